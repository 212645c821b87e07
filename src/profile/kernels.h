#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profile/budget_parts.h"
#include "profile/quantity.h"
#include "profile/reasons.h"
#include "profile/vocabulary.h"

namespace llmprof::profile {

// Values by names from the data, in the order of the file.
template <class Value>
using ByName = std::vector<std::pair<std::string, Value>>;

// Values by words of a vocabulary, in the order of the file.
template <class Word, class Value>
using ByWord = std::vector<std::pair<Word, Value>>;

using Extent = std::array<uint32_t, 3>;

struct TimeInStage {
  Milliseconds total;
  uint64_t calls = 0;
  Milliseconds steady_total;
  uint64_t steady_calls = 0;
  std::optional<Milliseconds> mean = {};
  std::optional<Share> share = {};

  void fields(auto& field) const {
    field("total_ms", total, "time over all instances");
    field("calls", calls, "launches over all instances");
    field("steady_total_ms", steady_total, "the same, warm-up excluded");
    field("steady_calls", steady_calls, "the same, warm-up excluded");
    field("mean_ms", mean,
          "mean per launch, warm-up excluded unless all of the stage is warm-up "
          "(shown.warmup_only); null without such launches");
    field("share", share, "time of these launches over that of all kernels in the stage");
  }
};

// Time in the stages, excluding warm-up and everything outside stages.
struct MeasuredTime {
  Milliseconds total;
  uint64_t calls = 0;
  Milliseconds mean;
  std::optional<Share> share;

  void fields(auto& field) const {
    field("total_ms", total, "time over the measured instances of all stages");
    field("calls", calls, "launches there");
    field("mean_ms", mean, "total over calls");
    field("share", share,
          "total over the time of all kernels in measured instances; null for a launch shape");
  }
};

struct LaunchShape {
  Extent grid{};
  Extent block{};
  uint64_t calls = 0;
  Milliseconds total;
  Milliseconds mean;
  std::optional<Milliseconds> per_token;
  std::optional<MeasuredTime> measured;

  void fields(auto& field) const {
    field("grid", grid, "x, y, z");
    field("block", block, "x, y, z");
    field("calls", calls, "launches with this grid and block");
    field("total_ms", total, "their time");
    field("mean_ms", mean, "total over calls");
    field("ms_per_token", per_token, "time in decode over its steps, warm-up excluded");
    field("measured", measured, "as for the kernel");
  }
};

struct Metric {
  double mean = 0;
  double min = 0;
  double max = 0;
  uint64_t count = 0;
  std::optional<std::string> unit;

  void fields(auto& field) const {
    field("mean", mean, "mean over the launches that ncu measured");
    field("min", min, "smallest value");
    field("max", max, "largest value");
    field("count", count, "launches measured");
    field("unit", unit, "time in ns, sizes in byte");
  }
};

// One row per kernel name and device. The first five are the seed's KernelRecord.
struct Kernel {
  std::string kernel_name;
  std::string key;
  std::string short_name;
  KernelClass kernel_class = KernelClass::other;
  std::optional<std::string> library;
  std::string device;
  Milliseconds total;
  WholeNanoseconds total_ns;
  uint64_t calls = 0;
  Milliseconds mean;
  std::optional<Milliseconds> min;
  std::optional<Milliseconds> p50;
  std::optional<Milliseconds> p99;
  std::optional<Milliseconds> max;
  Share share;
  std::optional<Milliseconds> per_token;
  ByName<TimeInStage> stages;
  std::vector<LaunchShape> shapes;
  std::optional<Flops> flops;
  std::optional<Bytes> bytes;
  ByName<Metric> metrics;
  std::optional<MeasuredTime> measured;
  bool experts = false;

  void fields(auto& field) const {
    field("kernel_name", kernel_name, "the full name as the capture gave it");
    field("key", key,
          "kernel ID, independent of how a tool or demangler spells its name; for comparisons, not "
          "for reading");
    field("short_name", short_name, "short name, at most 60 characters");
    field("class", kernel_class, "what it does for the model");
    field("library", library,
          "cuBLAS, CUTLASS, cuDNN, FlashAttention, ...; null if the name does not show it");
    field("device", device,
          "\"cuda:0\", or \"cpu:0\" (operators that a program recorded itself); prefixed with the "
          "capture's name if several timelines were read; \"cuda\" if the capture does not say");
    field("total_ms", total, "time of all launches");
    field("total_ns", total_ns, "the same, exact");
    field("calls", calls, "launches");
    field("mean_ms", mean, "total over max(calls, 1)");
    field("min_ms", min, "shortest launch; null if only totals are known");
    field("p50_ms", p50, "median launch");
    field("p99_ms", p99, "99th percentile of launches");
    field("max_ms", max, "longest launch");
    field("share", share, "total over the time of all kernels");
    field("ms_per_token", per_token,
          "time in decode over its steps, warm-up excluded; null if it does not run in decode");
    field("stages", stages, "time by stage name; only stages in which it runs");
    field("shapes", shapes, "launches by grid and block, longest first");
    field("flops", flops,
          "FLOPs of all calls, as the program recorded them with its operators; null for GPU "
          "kernels");
    field("bytes", bytes, "bytes of all calls, as the program recorded them; null for GPU kernels");
    field("metrics", metrics, "ncu's metrics, by name");
    field("measured", measured,
          "time in the stages without warm-up; null if it does not run there");
    field("experts", experts,
          "computes for the experts of a mixture-of-experts model, by its name; communication does "
          "not count");
  }
};

struct KernelClassTotal {
  KernelClass kernel_class = KernelClass::other;
  Milliseconds total;
  uint64_t calls = 0;
  Share share;
  std::optional<MeasuredTime> measured;

  void fields(auto& field) const {
    field("class", kernel_class, "as in kernels");
    field("total_ms", total, "time of its kernels");
    field("calls", calls, "launches");
    field("share", share, "total over the time of all kernels");
    field("measured", measured, "time in the stages without warm-up");
  }
};

// The seed's KernelRecord.
struct KernelRecord {
  std::string kernel_name;
  std::string device;
  Milliseconds total;
  uint64_t calls = 0;
  Milliseconds mean;

  void fields(auto& field) const {
    field("kernel_name", kernel_name, "the full name");
    field("device", device, "as in kernels");
    field("total_ms", total, "time of all launches");
    field("calls", calls, "launches");
    field("mean_ms", mean, "total over max(calls, 1)");
  }
};

// A kernel name on all devices together.
struct KernelOnAllDevices {
  std::string kernel_name;
  std::string short_name;
  std::string devices;
  Milliseconds total;
  uint64_t calls = 0;
  Milliseconds mean;
  Share share;

  void fields(auto& field) const {
    field("kernel_name", kernel_name, "the full name");
    field("short_name", short_name, "as in kernels");
    field("devices", devices, "\"cuda:0, cuda:1\"");
    field("total_ms", total, "time of all launches");
    field("calls", calls, "launches");
    field("mean_ms", mean, "total over max(calls, 1)");
    field("share", share, "total over the time of all kernels");
  }
};

// What limits a kernel's speed.
enum class Bound : uint8_t { unknown, compute, memory, latency };
constexpr auto words_of(Bound /*of*/) {
  return vocabulary<Bound>({{Bound::latency, "neither compute nor memory, by ncu's metrics"}});
}

enum class RooflineSource : uint8_t { ncu, counters, recorded };
constexpr auto words_of(RooflineSource /*of*/) {
  using enum RooflineSource;
  return vocabulary<RooflineSource>({
      {counters, "samples of the GPU's counters"},
      {recorded, "FLOPs and bytes that CPU operators recorded"},
  });
}

enum class WhyNoFlops : uint8_t { not_sampled, no_tensor_activity, format_unknown, peak_unknown };
constexpr auto words_of(WhyNoFlops /*of*/) {
  using enum WhyNoFlops;
  return vocabulary<WhyNoFlops>({
      {not_sampled, "no tensor-core counter was sampled"},
      {no_tensor_activity, "no tensor activity certainly belongs to the kernel"},
      {format_unknown, "the tensor cores' number format is unknown"},
      {peak_unknown, "the GPU's peak for that format is unknown"},
  });
}

enum class NumberFormatSource : uint8_t { kernel_name, model };
constexpr auto words_of(NumberFormatSource /*of*/) {
  return vocabulary<NumberFormatSource>({{NumberFormatSource::kernel_name, "", "kernel name"}});
}

struct RooflineKernel {
  std::string kernel_name;
  std::string short_name;
  std::string device;
  uint64_t launches = 0;
  std::optional<Extent> commonest_grid;
  uint64_t grids = 0;
  std::optional<FlopsPerSecond> flops_per_s;
  std::optional<BytesPerSecond> bytes_per_s;
  std::optional<FlopsPerByte> flops_per_byte;
  std::optional<Share> compute_share_of_peak;
  std::optional<Share> memory_share_of_peak;
  Bound bound = Bound::unknown;
  RooflineSource source = RooflineSource::ncu;
  uint64_t samples = 0;
  std::optional<Milliseconds> sampled;
  std::optional<Share> own_share_of_samples;
  std::optional<Share> tensor_active;
  std::optional<std::string> peak_name;
  std::optional<FlopsPerSecond> peak_flops;
  std::optional<NumberFormatSource> number_format_source;
  std::optional<WhyNoFlops> why_no_flops;

  void fields(auto& field) const {
    field("kernel_name", kernel_name, "the full name");
    field("short_name", short_name, "as in kernels");
    field("device", device, "as in kernels");
    field("launches", launches,
          "launches measured; by counters, launches in the samples that count");
    field("commonest_grid", commonest_grid, "most frequent grid: x, y, z");
    field("grids", grids, "number of distinct grids; figures are means over all launches");
    field("flops_per_s", flops_per_s,
          "achieved rate; by counters, tensor_active_share times peak_flops_per_s, which does not "
          "count work outside the tensor cores");
    field("bytes_per_s", bytes_per_s, "achieved DRAM rate");
    field("flops_per_byte", flops_per_byte, "arithmetic intensity");
    field("compute_share_of_peak", compute_share_of_peak,
          "share of the compute peak; without SpeedOfLight's figure, utilization of the busiest "
          "pipe");
    field("memory_share_of_peak", memory_share_of_peak,
          "share of the memory bandwidth's peak; without SpeedOfLight's figure, of the busiest "
          "memory level");
    field("bound", bound, "what limits it");
    field("source", source, "of the figures");
    field("samples", samples, "samples that it filled, by counters; otherwise 0");
    field("sampled_ms", sampled, "time of these samples");
    field("own_share_of_samples", own_share_of_samples,
          "share of the samples' time in which it ran alone");
    field("tensor_active_share", tensor_active,
          "mean tensor-core activity over these samples, as a share of the peak at the clock of "
          "that time");
    field("peak_name", peak_name,
          "peak that FLOP/s are computed from, by counters: \"bf16 dense\"; null without FLOP/s");
    field("peak_flops_per_s", peak_flops, "that peak, from the data sheet");
    field("number_format_source", number_format_source,
          "source of the tensor cores' number format, by counters; null without FLOP/s");
    field("why_no_flops", why_no_flops, "by counters: why FLOP/s are missing; null with FLOP/s");
  }
};

// Kernels without ncu's metrics, measured by the GPU's counters.
struct SampledKernels {
  uint64_t samples = 0;
  uint64_t attributed_samples = 0;
  Milliseconds interval;
  Share least_share_of_sample;
  uint64_t kernels_placed = 0;
  uint64_t kernels_too_short = 0;
  uint64_t kernels_unsampled = 0;

  void fields(auto& field) const {
    field("samples", samples, "samples of DRAM bytes in the whole capture");
    field("attributed_samples", attributed_samples, "samples that launches of one kernel filled");
    field("interval_ms", interval, "median duration of a sample");
    field(
        "least_share_of_sample", least_share_of_sample,
        "share of a sample's time that a kernel must run alone for the sample to count as its own");
    field("kernels_placed", kernels_placed, "kernels that these samples place in kernels");
    field("kernels_too_short", kernels_too_short,
          "sampled kernels that filled no sample: too short for the sampling interval, or never "
          "alone");
    field("kernels_unsampled", kernels_unsampled, "kernels without any sample");
  }
};

struct BoundShares {
  Share memory;
  Share compute;
  Share latency;
  Share unknown;

  void fields(auto& field) const {
    field("memory", memory, "share of kernel time bound by memory");
    field("compute", compute, "share of kernel time bound by compute");
    field("latency", latency, "share of kernel time bound by latency");
    field("unknown", unknown, "share of kernel time without metrics");
  }
};

struct Roofline {
  std::optional<std::string> rule;
  std::optional<BoundShares> share_of_kernel_time;
  std::optional<std::string> why_not;
  std::vector<RooflineKernel> kernels;
  uint64_t metrics_read = 0;
  uint64_t metrics_of_kernels = 0;
  std::vector<std::string> missing_metrics;
  Reasons rule_reasons;
  Reasons why_not_reasons;
  std::optional<SampledKernels> sampled;

  void fields(auto& field) const {
    field("rule", rule, "how bound is decided, with its thresholds");
    field("share_of_kernel_time", share_of_kernel_time, "by bound; null without metrics");
    field("why_not", why_not, "what is missing, and the capture that would give it");
    field(
        "kernels", kernels,
        "kernels that ncu measured; without ncu, those that fill samples of the GPU's counters; "
        "for CPU operators, from their recorded FLOPs and bytes against the CPU's measured peaks");
    field("metrics_read", metrics_read, "metrics that ncu measured, of any kernel");
    field("metrics_of_kernels", metrics_of_kernels, "metrics of kernels listed in kernels");
    field("missing_metrics", missing_metrics,
          "metrics that would give a figure, if none of those read does");
    field("rule_reasons", rule_reasons, "rule as kinds and values");
    field("why_not_reasons", why_not_reasons, "why_not as kinds and values");
    field("sampled", sampled,
          "kernels without ncu's metrics, by the GPU's counters; null without samples");
  }
};

}  // namespace llmprof::profile
