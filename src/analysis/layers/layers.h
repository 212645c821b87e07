#pragma once

#include <array>
#include <string>
#include <vector>

#include "analysis/naming/described_names.h"
#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"
#include "profile/reasons.h"

namespace llmprof::analysis {

inline constexpr size_t kKernelClasses = static_cast<size_t>(KernelClass::other) + 1;

// Kernel time of one layer, or of a part of one, over all instances of a stage that are not
// warm-up.
struct LayerSum {
  uint64_t kernel_count = 0;
  Nanoseconds kernel_sum = 0;
  std::array<Nanoseconds, kKernelClasses> by_class{};

  LayerSum& operator+=(const LayerSum& more) {
    kernel_count += more.kernel_count;
    kernel_sum += more.kernel_sum;
    for (size_t i = 0; i < by_class.size(); ++i) by_class[i] += more.by_class[i];
    return *this;
  }
};

struct LayerRow : LayerSum {
  std::string name;  // "layer_00", "layer_00/attn"; "outside layers"
  uint32_t stage = 0;
  uint32_t model = 0;  // Step::layers of its passes, where several models ran; 0 otherwise
  bool part = false;   // of the layer named before
  StageSource source = StageSource::nvtx;
  uint64_t passes = 0;    // forward passes that the sums are over
  profile::Reasons note;  // of a layer with far fewer or more kernels than most
};

using LayerRowId = trace::Id<struct LayerRowKind>;  // row of Layers::rows

struct Layers {
  std::vector<LayerRow> rows;  // by stage, then layer; then "outside layers"
  profile::Reasons reason;     // where a stage has none
  // By row of Trace::kernels: the layer that counts it, never a part of one; none outside of layers
  // and in warm-up. Empty where no stage has layers.
  std::vector<LayerRowId> of_kernel;
};

// From layer ranges where the launches were made inside some (eager) or their graph's nodes were
// captured inside some, from what repeats in the kernel sequence otherwise (CUDA graphs captured
// unseen, no annotations). `ranges` is null where annotations are not to be used.
Layers find_layers(const trace::Trace& trace, const Stages& stages, const MeaningfulRanges* ranges,
                   const DescribedNames& names);

}  // namespace llmprof::analysis
