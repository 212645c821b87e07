#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/naming/described_names.h"
#include "profile/totals.h"
#include "trace/trace.h"

namespace llmprof::analysis {

using profile::KernelSource;

struct MetricSummary {
  std::string unit;
  uint64_t count = 0;  // launches measured
  double mean = 0;
  double min = 0;
  double max = 0;
};

// All launches of one kernel name on one device. Times in nanoseconds.
struct KernelRow {
  trace::StringId name;
  std::string device;  // "cuda:0"; "cuda" where the capture does not say which
  KernelDescription description;
  uint64_t calls = 0;
  Nanoseconds total = 0;
  // Of the single launches, by nearest rank; absent where only totals are known.
  std::optional<Nanoseconds> min;
  std::optional<Nanoseconds> p50;
  std::optional<Nanoseconds> p99;
  std::optional<Nanoseconds> max;
  double share = 0;  // of the time of all kernels in the ranking, 0 to 1
  // Over all calls, as the program recorded them (CPU operators); absent where it did not.
  std::optional<double> flops;
  std::optional<double> bytes;
  std::map<std::string, MetricSummary> metrics;
  // What the metrics were measured on. Shapes are the timeline's where there is one, the profiler's
  // otherwise; a shape may run in other ranges too, see KernelRanking::measured_kernels.
  std::vector<trace::ShapeId> measured_shapes;
  size_t measured_grids = 0;                    // distinct grids
  std::optional<trace::Extent> commonest_grid;  // the one that most measured launches had

  // The seed's contract: total over max(calls, 1).
  [[nodiscard]] double mean_ns() const {
    return static_cast<double>(total) / static_cast<double>(calls == 0 ? 1 : calls);
  }
};

struct ClassRow {
  KernelClass kernel_class = KernelClass::other;
  uint64_t calls = 0;
  Nanoseconds total = 0;
  double share = 0;  // of the time of all kernels in the ranking, 0 to 1
};

struct KernelRanking {
  KernelSource source = KernelSource::none;
  std::vector<KernelRow> rows;    // longest total first
  std::vector<ClassRow> classes;  // likewise
  uint64_t calls = 0;
  Nanoseconds total = 0;
  // By row of Trace::kernels: whether a profiler measured a launch of the same kernel, grid, block
  // and range, so that the row's metrics speak of it. Empty without both.
  std::vector<bool> measured_kernels;
  // By row of Trace::kernels: its row above. Empty where these are not of the timeline.
  std::vector<uint32_t> row_of_kernel;

  static constexpr uint32_t kNoRow = UINT32_MAX;
  [[nodiscard]] uint32_t row_of(size_t kernel) const {
    return kernel < row_of_kernel.size() ? row_of_kernel[kernel] : kNoRow;
  }
};

KernelRanking rank_kernels(const trace::Trace& trace, const DescribedNames& names);

// "cuda:0" or "cpu:0"; where several captures were read with the capture in front: "rank3/cuda:0",
// or by its file where ranks do not tell captures apart.
std::string device_label(const trace::Trace& trace, trace::DeviceId device);

// ncu calls different metrics the same ("Memory Throughput", in % of the peak and in byte/s): where
// that happens in a trace, each stands under its name and unit in KernelRow::metrics.
std::string metric_name_with_unit(std::string_view name, std::string_view unit);

// Puts each profiled launch's metrics into the row of the same kernel: same name (however spelled),
// grid and block, and the same innermost range where both sides know it. Without a timeline the
// rows are the profiler's own.
profile::MetricJoin join_metrics(const trace::Trace& trace, KernelRanking& ranking);

}  // namespace llmprof::analysis
