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

  static void fields(auto& field) {
    using Self = StageStream;
    field("stage", &Self::stage, "where they belong");
    field("device", &Self::device, "as in kernels");
    field("stream", &Self::stream, "the stream's number, as the capture has it");
    field("kernels", &Self::kernels, "launched on it in the stage's measured instances");
    field("total_ms", &Self::total, "their time");
  }
};

}  // namespace llmprof::profile
