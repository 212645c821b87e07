#include <algorithm>
#include <utility>

#include "analysis/counters/kernel_samples.h"
#include "analysis/naming/short_name.h"
#include "analysis/roofline/roofline.h"
#include "analysis/statistics/statistics.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

constexpr std::string_view kTf32 = "tf32";

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Converts a type in a kernel name to the spelling of GpuSpec::peak_for. Tensor cores multiply
// 32-bit numbers as TF32.
std::string peak_spelling(std::string_view spoken) {
  constexpr std::pair<std::string_view, std::string_view> kSpellings[] = {
      {"bf16", "bf16"}, {"f16", "f16"},  {"fp4", "nvfp4"},
      {"i8", "int8"},   {"tf32", kTf32}, {"f32", kTf32}};
  if (spoken.starts_with("fp8")) return "fp8";
  for (const auto& [of_name, of_peak] : kSpellings) {
    if (of_name == spoken) return std::string(of_peak);
  }
  return {};
}

// The first type among the words of "cutlass_80_tensorop_bf16_s16816gemm_relu_...".
std::string format_among_words(std::string_view name) {
  for (size_t i = 0; i < name.size();) {
    size_t end = i;
    while (end < name.size() && is_letter_or_digit(name[end])) ++end;
    if (std::string format = peak_spelling(spoken_type(name.substr(i, end - i))); !format.empty()) {
      return format;
    }
    i = end + 1;
  }
  return {};
}

std::string format_of_name(std::string_view kernel_name) {
  const std::string canonical = canonical_kernel_name(kernel_name);
  if (std::string format = peak_spelling(first_spoken_type(canonical)); !format.empty()) {
    return format;
  }
  return format_among_words(canonical);
}

constexpr double kWholePercent = 100;

// Other work in the samples may have used the tensor cores all of its time: only activity above its
// share is certainly the kernel's.
bool has_own_tensor_activity(const KernelRow& row, const KernelSamples& samples) {
  const double others =
      static_cast<double>(samples.time - samples.own) / static_cast<double>(samples.time);
  return may_use_tensor_cores(row.description.kernel_class) && *samples.tensor_active > others;
}

// Returns why no FLOPs were added; none if they were.
std::optional<WhyNoFlops> add_flops(const trace::Trace& trace, const KernelRow& row,
                                    const KernelSamples& samples, const UseOfPeaks& use,
                                    KernelRoofline& kernel) {
  if (!samples.tensor_active) return WhyNoFlops::not_sampled;
  if (!has_own_tensor_activity(row, samples)) return WhyNoFlops::no_tensor_activity;
  const auto format = tensor_format(row.description, trace.strings[row.name], use.model);
  if (!format) return WhyNoFlops::format_unknown;
  const auto peak = use.gpu ? tensor_peak(*use.gpu, format->name) : std::nullopt;
  if (!peak) return WhyNoFlops::peak_unknown;
  kernel.peak_flops = {peak->flops};
  kernel.peak_name = peak->name;
  using enum profile::NumberFormatSource;
  kernel.number_format_source = format->by_model ? model : kernel_name;
  kernel.flops_per_s = {*samples.tensor_active * peak->flops};
  kernel.flops_per_byte =
      quantity<profile::FlopsPerByte>(ratio(kernel.flops_per_s->value, kernel.bytes_per_s->value));
  return std::nullopt;
}

// Only tensor cores are sampled, not other compute units, so latency cannot be concluded.
Bound bound_by_counters(double compute_percent, double memory_percent) {
  if (std::max(compute_percent, memory_percent) < kBoundPercent) return Bound::unknown;
  return compute_percent > memory_percent ? Bound::compute : Bound::memory;
}

KernelRoofline place_sampled(const trace::Trace& trace, const KernelRow& row, size_t index,
                             const KernelSamples& samples, const UseOfPeaks& use) {
  KernelRoofline kernel;
  kernel.row = index;
  kernel.source = RooflineSource::counters;
  kernel.launches = samples.launches;
  kernel.samples = samples.samples;
  kernel.sampled = to_milliseconds(samples.time);
  kernel.own_share_of_samples = share(samples.own, samples.time);
  kernel.tensor_active = quantity<profile::Share>(samples.tensor_active);
  const double bytes = samples.bytes * kNanosecondsPerSecond / static_cast<double>(samples.time);
  kernel.bytes_per_s = {bytes};
  kernel.why_no_flops = add_flops(trace, row, samples, use, kernel);
  std::optional<double> compute;
  if (kernel.flops_per_s) compute = *samples.tensor_active * kWholePercent;
  std::optional<double> memory;
  if (use.gpu && use.gpu->memory_bandwidth > 0) {
    memory = bytes / use.gpu->memory_bandwidth * kWholePercent;
    // More than 100 % shows that the peak is for another GPU.
    if (*memory > kWholePercent) memory.reset();
  }
  kernel.compute_share_of_peak = share_of_percent(compute);
  kernel.memory_share_of_peak = share_of_percent(memory);
  kernel.bound = bound_by_counters(compute.value_or(0), memory.value_or(0));
  return kernel;
}

void add_rule(RankedRoofline& roofline, bool any_by_ncu) {
  FindingValues values;
  values.add("bound_share_of_peak", *share_of_percent(kBoundPercent))
      .add("share_of_sample", profile::Share{kLeastShareOfSample});
  if (!any_by_ncu) {
    roofline.rule.clear();
    roofline.missing.clear();  // without ncu, its metrics are not reported as missing
  }
  roofline.rule.push_back(make_reason(ReasonKind::bound_by_counters, values));
}

void add_too_short(const profile::SampledKernels& sampled, profile::Reasons& missing) {
  if (sampled.kernels_too_short == 0) return;
  const uint64_t all =
      sampled.kernels_placed + sampled.kernels_too_short + sampled.kernels_unsampled;
  FindingValues values;
  values.add("kernels_without", sampled.kernels_too_short)
      .add("kernels", all)
      .add("interval", sampled.interval)
      .add("share_of_sample", sampled.least_share_of_sample);
  missing.push_back(make_reason(ReasonKind::shorter_than_samples, values));
}

}  // namespace

std::optional<TensorFormat> tensor_format(const KernelDescription& kernel,
                                          std::string_view kernel_name,
                                          const std::optional<llm::ModelSpec>& model) {
  std::string named =
      kernel.number_format.empty() ? format_of_name(kernel_name) : kernel.number_format;
  if (!named.empty()) return TensorFormat{std::move(named), false};
  if (!model || (model->experts && model->experts->name != model->weights.name)) {
    return std::nullopt;
  }
  const std::string& weights = model->weights.name;
  return TensorFormat{weights == "f32" ? std::string(kTf32) : weights, true};
}

std::optional<Peak> tensor_peak(const llm::GpuSpec& gpu, std::string_view format) {
  if (format == kTf32) {
    if (!gpu.tensor_tf32) return std::nullopt;
    return Peak{*gpu.tensor_tf32, "tf32 dense"};
  }
  const auto peak = gpu.peak_for(format);
  if (!peak || *peak <= 0) return std::nullopt;
  return Peak{*peak, gpu.peak_name(format)};
}

void place_by_counters(const trace::Trace& trace, const KernelRanking& ranking,
                       const UseOfPeaks& use, RankedRoofline& roofline) {
  const auto samples = sample_kernels(trace, ranking);
  if (!samples) return;
  std::vector<bool> placed(ranking.rows.size(), false);
  for (const KernelRoofline& kernel : roofline.kernels) placed[kernel.row] = true;
  const bool any_by_ncu = !roofline.kernels.empty();
  profile::SampledKernels& sampled = roofline.sampled.emplace(*samples);
  for (size_t i = 0; i < ranking.rows.size(); ++i) {
    const KernelSamples& own = samples->rows[i];
    if (placed[i]) continue;
    if (own.samples > 0) {
      roofline.kernels.push_back(place_sampled(trace, ranking.rows[i], i, own, use));
      ++sampled.kernels_placed;
    } else {
      ++(own.met ? sampled.kernels_too_short : sampled.kernels_unsampled);
    }
  }
  if (sampled.kernels_placed > 0) add_rule(roofline, any_by_ncu);
  add_too_short(sampled, roofline.missing);
  std::ranges::stable_sort(roofline.kernels, {}, &KernelRoofline::row);
}

}  // namespace llmprof::analysis
