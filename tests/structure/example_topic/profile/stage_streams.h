#pragma once

#include <cstdint>
#include <string>

#include "profile/quantity.h"

namespace llmprof::profile {

// What one CUDA stream did in a stage, warm-up excluded.
struct StageStream {
  std::string stage;
  std::string device;
  uint64_t stream = 0;
  uint64_t kernels = 0;
  Milliseconds total;

  void fields(auto& field) const {
    field("stage", stage, "where they belong");
    field("device", device, "as in kernels");
    field("stream", stream, "the stream's number, as the capture has it");
    field("kernels", kernels, "launched on it in the stage's measured instances");
    field("total_ms", total, "their time");
  }
};

}  // namespace llmprof::profile
