#pragma once

#include <string_view>
#include <vector>

#include "analysis/naming/classes.h"
#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"
#include "profile/layers.h"
#include "profile/reasons.h"

namespace llmprof::analysis {

inline constexpr size_t kKernelClasses = static_cast<size_t>(KernelClass::other) + 1;

inline constexpr std::string_view kOutsideLayers = "outside layers";

using LayerRowId = trace::Id<struct LayerRowKind>;  // row of Layers::rows

struct Layers {
  // Over all instances that are not warm-up, by stage, model and layer; then "outside layers".
  std::vector<profile::Layer> rows;
  profile::Reasons reason;  // why a stage has no layers
  // By row of Trace::kernels: the layer, never a part, that counts the kernel; none outside layers
  // and in warm-up. Empty if no stage has layers.
  std::vector<LayerRowId> of_kernel;
};

// Uses layer ranges if kernels were launched (eager) or their graph nodes captured inside them.
// Otherwise uses repeats in the kernel sequence (no annotations, or graph capture was not
// recorded). `ranges` is null if annotations are disabled.
Layers find_layers(const trace::Trace& trace, const Stages& stages, const MeaningfulRanges* ranges,
                   const DescribedNames& names);

// Means over the layers of each stage and model.
profile::LayerSummary layer_summary(const Layers& layers);

}  // namespace llmprof::analysis
