#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/naming/classes.h"
#include "analysis/stages/kernel_scopes.h"
#include "analysis/stages/stages.h"
#include "analysis/statistics/statistics.h"
#include "base/diagnostics.h"
#include "profile/kernels.h"
#include "profile/totals.h"
#include "trace/trace.h"

namespace llmprof::analysis {

using profile::KernelSource;

// All launches of one kernel name on one device. Times in nanoseconds.
struct KernelRow : Calls {
  trace::StringId name;
  std::string device;  // "cuda:0"; "cuda" if the capture does not say which
  KernelDescription description;
  // Over single launches, by nearest rank; absent if only totals are known.
  std::optional<Nanoseconds> min;
  std::optional<Nanoseconds> p50;
  std::optional<Nanoseconds> p99;
  std::optional<Nanoseconds> max;
  double share = 0;  // of the time of all kernels in the ranking, 0 to 1
  // Over all calls, as recorded by the program (CPU operators); absent if not recorded.
  std::optional<double> flops;
  std::optional<double> bytes;
  std::map<std::string, profile::Metric> metrics;
  // What the metrics were measured on.
  size_t measured_grids = 0;                    // distinct grids
  std::optional<trace::Extent> commonest_grid;  // the grid of most measured launches
};

struct KernelRanking {
  KernelSource source = KernelSource::none;
  std::vector<KernelRow> rows;  // longest total first
  uint64_t calls = 0;
  Nanoseconds total = 0;
  // By row of Trace::kernels: whether a profiler measured a launch of the same kernel, grid, block
  // and range, so that the row's metrics apply to it. Empty without a timeline or
  // profiled launches.
  std::vector<bool> measured_kernels;
  // By row of Trace::kernels: its index in `rows`. Empty if the rows are not from the timeline.
  std::vector<uint32_t> row_of_kernel;

  static constexpr uint32_t kNoRow = UINT32_MAX;
  [[nodiscard]] uint32_t row_of(size_t kernel) const {
    return kernel < row_of_kernel.size() ? row_of_kernel[kernel] : kNoRow;
  }
};

KernelRanking rank_kernels(const trace::Trace& trace, const DescribedNames& names);

// "cuda:0" or "cpu:0". With several captures, the capture comes first: "rank3/cuda:0", or its file
// if ranks do not distinguish the captures.
std::string device_label(const trace::Trace& trace, trace::DeviceId device);

// ncu uses one name for different metrics ("Memory Throughput", in % of the peak and in byte/s). If
// a trace has such metrics, KernelRow::metrics lists each by name and unit.
std::string metric_name_with_unit(std::string_view name, std::string_view unit);

// Adds each profiled launch's metrics to the row of the same kernel: same name (in any spelling),
// grid and block, and the same innermost range if both sides know it. Without a timeline, the rows
// are the profiler's own.
profile::MetricJoin join_metrics(const trace::Trace& trace, KernelRanking& ranking);

// Launches of one kernel name on one device with one grid and block.
struct ShapeRow : Calls {
  trace::Extent grid{};
  trace::Extent block{};
  std::vector<StageTime> stages;  // one entry per stage of Stages::stages
};

// One row of the ranking, split by shape and stage.
struct OpenedKernel {
  std::vector<ShapeRow> shapes;   // longest total first
  std::vector<StageTime> stages;  // one entry per stage
};

// One per row of the ranking. Without a timeline the entries are empty.
std::vector<OpenedKernel> open_kernels(const trace::Trace& trace, const KernelRanking& ranking,
                                       const Stages& stages);

// Kernel time, in total and by GPU. Sums count overlapping kernels twice, busy times once; a span
// runs from the first start to the last end. Busy times and spans need a timeline. Reports if CUDA
// graphs hide kernels, because the ranking is then incomplete.
profile::Totals total_up(const trace::Trace& trace, const KernelRanking& ranking,
                         const std::optional<profile::MetricJoin>& join,
                         const std::optional<ScopeTotals>& scopes, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
