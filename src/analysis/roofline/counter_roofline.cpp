#include "analysis/roofline/counter_roofline.h"

#include <algorithm>

#include "analysis/counters/kernel_samples.h"
#include "analysis/roofline/tensor_format.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

using profile::FindingValues;
using profile::make_reason;
using profile::ReasonKind;

constexpr double kWholePercent = 100;

// What else ran in the samples may have used the tensor cores all that time: activity up to its
// share is not certainly the kernel's.
bool has_own_tensor_activity(const KernelRow& row, const KernelSamples& samples) {
  const double others =
      static_cast<double>(samples.time - samples.own) / static_cast<double>(samples.time);
  return may_use_tensor_cores(row.description.kernel_class) && *samples.tensor_active > others;
}

void tell_flops(const trace::Trace& trace, const KernelRow& row, const KernelSamples& samples,
                const Utilization& use, KernelRoofline& kernel) {
  KernelByCounters& by = *kernel.by_counters;
  if (!samples.tensor_active) {
    by.why_no_flops = WhyNoFlops::not_sampled;
    return;
  }
  if (!has_own_tensor_activity(row, samples)) {
    by.why_no_flops = WhyNoFlops::no_tensor_activity;
    return;
  }
  const auto format = tensor_format(trace.strings[row.name], use.model);
  if (!format) {
    by.why_no_flops = WhyNoFlops::format_unknown;
    return;
  }
  const auto peak = use.gpu ? tensor_peak(*use.gpu, format->name) : std::nullopt;
  if (!peak) {
    by.why_no_flops = WhyNoFlops::peak_unknown;
    return;
  }
  by.peak_flops = peak->flops;
  by.peak_name = peak->name;
  by.format_by_model = format->by_model;
  kernel.flops = *samples.tensor_active * peak->flops;
  if (*kernel.bytes > 0) kernel.intensity = *kernel.flops / *kernel.bytes;
}

// Other units than the tensor cores are not sampled, so that nothing is said of latency.
Bound bound_by_counters(const KernelRoofline& kernel) {
  const double compute = kernel.compute_percent.value_or(0);
  const double memory = kernel.memory_percent.value_or(0);
  if (std::max(compute, memory) < kBoundPercent) return Bound::unknown;
  return compute > memory ? Bound::compute : Bound::memory;
}

KernelRoofline place_sampled(const trace::Trace& trace, const KernelRow& row, size_t index,
                             const KernelSamples& samples, const Utilization& use) {
  KernelRoofline kernel;
  kernel.row = index;
  kernel.source = RooflineSource::counters;
  kernel.launches = samples.launches;
  kernel.by_counters.emplace();
  kernel.by_counters->samples = samples.samples;
  kernel.by_counters->time = samples.time;
  kernel.by_counters->own = samples.own;
  kernel.by_counters->tensor_active = samples.tensor_active;
  kernel.bytes = samples.bytes * kNanosecondsPerSecond / static_cast<double>(samples.time);
  tell_flops(trace, row, samples, use, kernel);
  if (kernel.flops) kernel.compute_percent = *samples.tensor_active * kWholePercent;
  if (use.gpu && use.gpu->memory_bandwidth > 0) {
    const double percent = *kernel.bytes / use.gpu->memory_bandwidth * kWholePercent;
    // More than the peak shows that it is another GPU's.
    if (percent <= kWholePercent) kernel.memory_percent = percent;
  }
  kernel.bound = bound_by_counters(kernel);
  return kernel;
}

void tell_rule(Roofline& roofline, bool any_by_ncu) {
  FindingValues values;
  values.add("bound_share_of_peak", profile::Share{kBoundPercent / kWholePercent})
      .add("share_of_sample", profile::Share{kLeastShareOfSample});
  if (!any_by_ncu) {
    roofline.rule.clear();
    roofline.missing.clear();  // ncu's metrics are not what is missing
  }
  roofline.rule.push_back(make_reason(ReasonKind::bound_by_counters, values));
}

void tell_too_short(const RooflineSamples& sampled, profile::Reasons& missing) {
  if (sampled.too_short == 0) return;
  const uint64_t all = sampled.placed + sampled.too_short + sampled.unsampled;
  FindingValues values;
  values.add_number("kernels_without", static_cast<double>(sampled.too_short))
      .add_number("kernels", static_cast<double>(all))
      .add("interval", profile::to_milliseconds(sampled.interval))
      .add("share_of_sample", profile::Share{kLeastShareOfSample});
  missing.push_back(make_reason(ReasonKind::shorter_than_samples, values));
}

}  // namespace

void place_by_counters(const trace::Trace& trace, const KernelRanking& ranking,
                       const Utilization& use, Roofline& roofline) {
  const auto samples = sample_kernels(trace, ranking);
  if (!samples) return;
  std::vector<bool> placed(ranking.rows.size(), false);
  for (const KernelRoofline& kernel : roofline.kernels) placed[kernel.row] = true;
  const bool any_by_ncu = !roofline.kernels.empty();
  RooflineSamples& sampled = roofline.sampled.emplace();
  sampled.samples = samples->samples;
  sampled.attributed = samples->attributed;
  sampled.interval = samples->interval;
  for (size_t i = 0; i < ranking.rows.size(); ++i) {
    const KernelSamples& own = samples->rows[i];
    if (placed[i]) continue;
    if (own.samples > 0) {
      roofline.kernels.push_back(place_sampled(trace, ranking.rows[i], i, own, use));
      ++sampled.placed;
    } else {
      ++(own.met ? sampled.too_short : sampled.unsampled);
    }
  }
  if (sampled.placed > 0) tell_rule(roofline, any_by_ncu);
  tell_too_short(sampled, roofline.missing);
  std::stable_sort(roofline.kernels.begin(), roofline.kernels.end(),
                   [](const auto& a, const auto& b) { return a.row < b.row; });
}

}  // namespace llmprof::analysis
