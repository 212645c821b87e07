#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/quantity.h"
#include "profile/vocabulary.h"

namespace llmprof::profile {

struct DeviceTotals {
  std::string device;
  std::optional<std::string> name;
  uint64_t kernel_count = 0;
  Milliseconds kernel_sum;
  std::optional<Milliseconds> gpu_busy;
  std::optional<Milliseconds> span;

  void fields(auto& field) const {
    field("device", device, "\"cuda:0\"");
    field("name", name, "name of the GPU");
    field("kernel_count", kernel_count, "kernels on this device");
    field("kernel_sum_ms", kernel_sum, "time of these kernels; overlapping ones count in full");
    field("gpu_busy_ms", gpu_busy, "time with at least one kernel running");
    field("span_ms", span, "first start to last end of a kernel");
  }
};

struct HiddenGraphs {
  uint64_t replays = 0;
  Milliseconds total;
  Share share_of_gpu_time;
  std::optional<std::string> launched_in;

  void fields(auto& field) const {
    field("replays", replays, "CUDA graph replays whose kernels were not recorded");
    field("total_ms", total, "time of these replays");
    field("share_of_gpu_time", share_of_gpu_time,
          "total_ms over the time of kernels and these replays together");
    field("launched_in", launched_in,
          "outermost range in which most of these replays were launched");
  }
};

// The part of a timeline that a kernel ran in.
enum class Scope : uint8_t { measured, warmup, autotuning, initialization, outside };
constexpr auto words_of(Scope /*of*/) {
  using enum Scope;
  return vocabulary<Scope>({
      {measured, "kernels in measured instances of stages"},
      {warmup, "kernels in excluded instances", "warm-up"},
      {autotuning, "kernels in bursts that no measured stage has; listed only if there are any"},
      {initialization, "kernels before the first stage of their device"},
      {outside, "kernels between and after stages"},
  });
}

// Where kernels come from; a trace's first available source is used.
enum class KernelSource : uint8_t { timeline, summary, profiler, none };
constexpr auto words_of(KernelSource /*of*/) {
  using enum KernelSource;
  return vocabulary<KernelSource>({
      {timeline, "every kernel with start and end"},
      {summary, "totals per name (nsys stats)"},
      {profiler, "single launches that ncu measured, outside the program's own time"},
  });
}

// Kernels in one part of the timeline; every kernel is in one part.
struct KernelScope {
  Scope scope = Scope::outside;
  uint64_t kernel_count = 0;
  Milliseconds kernel_sum;
  std::optional<Share> share;

  void fields(auto& field) const {
    field("scope", scope, "part of the timeline");
    field("kernel_count", kernel_count, "kernels in this scope");
    field("kernel_sum_ms", kernel_sum, "time of these kernels");
    field("share", share, "kernel_sum_ms over the time of all kernels");
  }
};

struct MetricJoin {
  uint64_t profiled_launches = 0;
  uint64_t joined = 0;
  uint64_t unjoined = 0;
  uint64_t timeline_kernels_covered = 0;

  void fields(auto& field) const {
    field("profiled_launches", profiled_launches, "launches that ncu measured");
    field("joined", joined, "measured launches whose kernel is in the timeline");
    field("unjoined", unjoined, "measured launches whose kernel is not in the timeline");
    field("timeline_kernels_covered", timeline_kernels_covered,
          "kernels of the timeline that get metrics this way");
  }
};

struct Totals {
  KernelSource source = KernelSource::none;
  uint64_t kernel_count = 0;
  Milliseconds kernel_sum;
  WholeNanoseconds kernel_sum_ns;
  std::optional<Milliseconds> gpu_busy;
  std::optional<Milliseconds> span;
  uint64_t memory_operation_count = 0;
  Milliseconds memory_operation_sum;
  uint64_t device_count = 0;
  uint64_t gpu_count = 0;
  std::vector<DeviceTotals> devices;
  std::optional<HiddenGraphs> hidden_graphs;
  std::optional<MetricJoin> metric_join;
  std::vector<KernelScope> scopes;

  void fields(auto& field) const {
    field("source", source, "source of the kernels");
    field("kernel_count", kernel_count, "all kernels");
    field("kernel_sum_ms", kernel_sum, "time of these kernels; overlapping ones count in full");
    field("kernel_sum_ns", kernel_sum_ns, "kernel_sum_ms, exact");
    field("gpu_busy_ms", gpu_busy,
          "time with at least one kernel running, per device, summed over devices; null without a "
          "timeline");
    field("span_ms", span,
          "first kernel start to last kernel end, on the device with the longest span; null "
          "without a timeline");
    field("memory_operation_count", memory_operation_count, "copies and fills");
    field("memory_operation_sum_ms", memory_operation_sum, "time of copies and fills");
    field("device_count", device_count, "number of entries in devices");
    field("gpu_count", gpu_count, "number of GPUs; one that is in several captures counts once");
    field("devices", devices, "totals by device");
    field("hidden_graphs", hidden_graphs,
          "CUDA graph replays whose kernels were not recorded; null without any");
    field("metric_join", metric_join,
          "how ncu's launches match the timeline, or the kernel summary by name; null without ncu");
    field("scopes", scopes,
          "kernels by the part of the timeline in which they ran; empty without stages");
  }
};

}  // namespace llmprof::profile
