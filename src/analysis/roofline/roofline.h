#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/mfu/utilization.h"
#include "analysis/ranking/kernels.h"
#include "llm/gpu_spec.h"
#include "llm/model_spec.h"
#include "profile/kernels.h"
#include "profile/reasons.h"

namespace llmprof::analysis {

// ncu's own threshold for a well-used unit.
inline constexpr double kBoundPercent = 60;

using profile::Bound;
using profile::RooflineSource;
using profile::WhyNoFlops;

// A kernel's place under the roofs of its GPU. ncu's metrics are means over the measured launches.
// FLOPs are those executed, on tensor cores and outside them, so a tile larger than the problem
// counts fully; none if the capture counted only some of them.
struct KernelRoofline : profile::RooflineKernel {
  size_t row = 0;  // of the ranking
};

bool may_use_tensor_cores(KernelClass kernel_class);

struct RankedRoofline {
  bool recorded = false;  // from CPU operators' own FLOPs and bytes, against measured peaks
  std::vector<KernelRoofline> kernels;  // in the ranking's order
  profile::Reasons rule;                // how bounds are classified, with thresholds
  profile::Reasons missing;             // what is unknown, and for how many kernels
  // Kernels placed by the GPU's counters because ncu's metrics are missing.
  std::optional<profile::SampledKernels> sampled;  // none without samples
};

RankedRoofline kernel_roofline(const KernelRanking& ranking);
// The same for CPU operators, from the FLOPs and bytes that the program recorded; `cpu` is null if
// its peaks are unknown.
RankedRoofline operator_roofline(const KernelRanking& ranking, const llm::GpuSpec* cpu);

// Adds kernels that ncu did not place and that fill samples of the GPU's counters. FLOPs are the
// tensor cores' activity times their dense peak for the kernel's number format; none unless the
// kernel certainly used them and the format is known.
void place_by_counters(const trace::Trace& trace, const KernelRanking& ranking,
                       const UseOfPeaks& use, RankedRoofline& roofline);

// The number format that tensor cores multiply in a kernel, and how it is known.
struct TensorFormat {
  std::string name;  // as GpuSpec::peak_for spells it, or "tf32"
  bool by_model = false;
};

// From the kernel's name, otherwise from the model's weights; none if both are inconclusive, or if
// the model's experts are stored in another format.
std::optional<TensorFormat> tensor_format(const KernelDescription& kernel,
                                          std::string_view kernel_name,
                                          const std::optional<llm::ModelSpec>& model);

// None if no such peak is known for the GPU.
std::optional<Peak> tensor_peak(const llm::GpuSpec& gpu, std::string_view format);

// Adds names and totals over all kernels.
profile::Roofline named_roofline(const trace::Trace& trace, const KernelRanking& ranking,
                                 const RankedRoofline& from);

}  // namespace llmprof::analysis
