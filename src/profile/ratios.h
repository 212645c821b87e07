#pragma once

#include <optional>

#include "profile/quantity.h"

namespace llmprof::profile {

// How much of a peak was used.
struct Ratios {
  std::optional<Share> wall;
  std::optional<Share> gpu_busy;

  static void fields(auto& field) {
    field("wall", &Ratios::wall, "on wall time");
    field("gpu_busy", &Ratios::gpu_busy, "on the time the GPU was busy, in traced steps");
  }
};

}  // namespace llmprof::profile
