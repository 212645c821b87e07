#pragma once

#include <array>
#include <string>
#include <vector>

#include "analysis/naming/classes.h"
#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"
#include "profile/reasons.h"

namespace llmprof::analysis {

inline constexpr size_t kKernelClasses = static_cast<size_t>(KernelClass::other) + 1;

// Kernel time of one layer, or of a part of it, over all instances of a stage that are not warm-up.
struct LayerSum {
  uint64_t kernel_count = 0;
  Nanoseconds kernel_sum = 0;
  std::array<Nanoseconds, kKernelClasses> by_class{};
};

inline constexpr std::string_view kOutsideLayers = "outside layers";

struct LayerRow : LayerSum {
  std::string name;  // "layer_00", "layer_00/attn"; "outside layers"
  uint32_t stage = 0;
  uint32_t model = 0;  // Step::layers of its passes if several models ran; otherwise 0
  bool part = false;   // of the preceding layer
  StageSource source = StageSource::nvtx;
  uint64_t passes = 0;    // forward passes included in the sums
  profile::Reasons note;  // set if it has far fewer or more kernels than most layers
};

using LayerRowId = trace::Id<struct LayerRowKind>;  // row of Layers::rows

struct Layers {
  std::vector<LayerRow> rows;  // by stage, then layer; then "outside layers"
  profile::Reasons reason;     // why a stage has no layers
  // By row of Trace::kernels: the layer, never a part, that counts the kernel; none outside layers
  // and in warm-up. Empty if no stage has layers.
  std::vector<LayerRowId> of_kernel;
};

// Uses layer ranges if kernels were launched (eager) or their graph nodes captured inside them.
// Otherwise uses repeats in the kernel sequence (no annotations, or graph capture was not
// recorded). `ranges` is null if annotations are disabled.
Layers find_layers(const trace::Trace& trace, const Stages& stages, const MeaningfulRanges* ranges,
                   const DescribedNames& names);

}  // namespace llmprof::analysis
