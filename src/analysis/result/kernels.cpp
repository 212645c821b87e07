#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analysis/counters/kernel_samples.h"
#include "analysis/naming/kernel_key.h"
#include "analysis/ranking/longest_kernels.h"
#include "analysis/result/parts.h"
#include "analysis/statistics/values.h"

namespace llmprof::analysis::result {
namespace {

// Kernel time per decode step; none where it has no part in decoding.
class TimePerToken {
 public:
  explicit TimePerToken(const std::vector<profile::Stage>& stages) : stages_(stages) {
    for (const profile::Stage& stage : stages) steps_ += stage.decode_step_count;
  }

  [[nodiscard]] std::optional<profile::Milliseconds> of(const std::vector<StageTime>& times) const {
    if (steps_ == 0) return std::nullopt;
    Nanoseconds time = 0;
    for (size_t i = 0; i < times.size(); ++i) {
      if (stages_[i].decode_step_count > 0) time += times[i].steady_total;
    }
    if (time == 0) return std::nullopt;
    return to_milliseconds(static_cast<double>(time) / static_cast<double>(steps_));
  }

 private:
  const std::vector<profile::Stage>& stages_;
  uint64_t steps_ = 0;
};

// In measured instances, summed over stages.
void add_steady(const std::vector<StageTime>& times, Calls& sum) {
  for (const StageTime& time : times) {
    sum.calls += time.steady_calls;
    sum.total += time.steady_total;
  }
}

Calls steady_time(const std::vector<StageTime>& times) {
  Calls sum;
  add_steady(times, sum);
  return sum;
}

Calls all_steady_time(const std::vector<OpenedKernel>& opened) {
  Calls sum;
  for (const OpenedKernel& kernel : opened) add_steady(kernel.stages, sum);
  return sum;
}

std::optional<profile::MeasuredTime> measured_time(const Calls& time,
                                                   const std::optional<Calls>& all) {
  if (time.calls == 0) return std::nullopt;
  profile::MeasuredTime told{to_milliseconds(time.total), time.calls, time.mean(), {}};
  if (all) told.share = share(static_cast<double>(time.total), static_cast<double>(all->total));
  return told;
}

profile::ByName<profile::TimeInStage> times_in_stages(const std::vector<profile::Stage>& stages,
                                                      const std::vector<StageTime>& times) {
  profile::ByName<profile::TimeInStage> named;
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i].calls == 0) continue;
    named.emplace_back(
        stages[i].name,
        profile::TimeInStage{to_milliseconds(times[i].total), times[i].calls,
                             to_milliseconds(times[i].steady_total), times[i].steady_calls});
  }
  return named;
}

profile::ByName<profile::Metric> metrics(const KernelRow& from) {
  profile::ByName<profile::Metric> named;
  for (const auto& [name, metric] : from.metrics) {
    named.emplace_back(to_printable(name),
                       profile::Metric{metric.mean, metric.min, metric.max, metric.count,
                                       unless_empty(metric.unit)});
  }
  return named;
}

std::vector<profile::LaunchShape> shapes(const OpenedKernel& opened, const TimePerToken& tokens) {
  std::vector<profile::LaunchShape> rows;
  rows.reserve(opened.shapes.size());
  for (const ShapeRow& from : opened.shapes) {
    rows.push_back({from.grid, from.block, from.calls, to_milliseconds(from.total),
                    Calls{from.calls, from.total}.mean(), tokens.of(from.stages),
                    measured_time(steady_time(from.stages), std::nullopt)});
  }
  return rows;
}

profile::Kernel kernel(const trace::Trace& trace, const KernelRow& from) {
  const std::string_view name = trace.strings[from.name];
  profile::Kernel row;
  row.kernel_name = to_printable(name);
  row.key = to_printable(kernel_key(name));
  row.short_name = from.description.short_name;
  row.kernel_class = from.description.kernel_class;
  row.library = unless_empty(from.description.library);
  row.device = from.device;
  row.total = to_milliseconds(from.total);
  row.total_ns = {from.total};
  row.calls = from.calls;
  row.mean = to_milliseconds(from.mean_ns());
  row.min = to_milliseconds(from.min);
  row.p50 = to_milliseconds(from.p50);
  row.p99 = to_milliseconds(from.p99);
  row.max = to_milliseconds(from.max);
  row.share = {from.share};
  row.flops = quantity<profile::Flops>(from.flops);
  row.bytes = quantity<profile::Bytes>(from.bytes);
  row.metrics = metrics(from);
  return row;
}

std::optional<profile::BoundShares> bound_shares(const KernelRanking& ranking,
                                                 const Roofline& roofline) {
  if (roofline.kernels.empty()) return std::nullopt;
  profile::BoundShares shares;
  double known = 0;
  for (const KernelRoofline& kernel : roofline.kernels) {
    const double share = ranking.rows[kernel.row].share;
    switch (kernel.bound) {
      case Bound::memory:
        shares.memory.value += share;
        break;
      case Bound::compute:
        shares.compute.value += share;
        break;
      case Bound::latency:
        shares.latency.value += share;
        break;
      case Bound::unknown:
        continue;
    }
    known += share;
  }
  shares.unknown = {std::max(0.0, 1 - known)};
  return shares;
}

// Any of them gives a kernel a place in the roofline.
constexpr std::array<std::string_view, 3> kNeededMetrics = {
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "dram__bytes.sum"};

uint64_t metrics_read(const trace::Trace& trace) {
  std::set<trace::MetricId> metrics;
  for (const trace::MetricValues& values : trace.metric_values) metrics.insert(values.metric);
  return metrics.size();
}

uint64_t metrics_of_kernels(const KernelRanking& ranking) {
  std::set<std::string_view> metrics;
  for (const KernelRow& row : ranking.rows) {
    for (const auto& [name, metric] : row.metrics) metrics.insert(name);
  }
  return metrics.size();
}

std::optional<profile::Share> of_percent(const std::optional<double>& percent) {
  constexpr double kPercent = 100;
  if (!percent) return std::nullopt;
  return profile::Share{*percent / kPercent};
}

std::optional<double> per_second(const std::optional<double>& sum, Nanoseconds time) {
  if (!sum || time <= 0) return std::nullopt;
  return *sum / static_cast<double>(time) * kNanosecondsPerSecond;
}

void tell_counters(const KernelByCounters& from, profile::RooflineKernel& row) {
  row.samples = from.samples;
  row.sampled = to_milliseconds(from.time);
  row.own_share_of_samples = share(static_cast<double>(from.own), static_cast<double>(from.time));
  row.tensor_active = quantity<profile::Share>(from.tensor_active);
  row.why_no_flops = from.why_no_flops;
  if (from.peak_flops <= 0) return;
  row.peak_name = from.peak_name;
  row.peak_flops = profile::FlopsPerSecond{from.peak_flops};
  row.number_format_source = from.format_by_model ? "model" : "kernel name";
}

std::optional<profile::SampledKernels> sampled_kernels(const std::optional<RooflineSamples>& from) {
  if (!from) return std::nullopt;
  profile::SampledKernels told;
  told.samples = from->samples;
  told.attributed_samples = from->attributed;
  told.interval = to_milliseconds(from->interval);
  told.least_share_of_sample = {kLeastShareOfSample};
  told.kernels_placed = from->placed;
  told.kernels_too_short = from->too_short;
  told.kernels_unsampled = from->unsampled;
  return told;
}

}  // namespace

std::tuple<std::vector<profile::Kernel>, std::vector<profile::KernelRecord>> kernels(
    const trace::Trace& trace, const KernelRanking& ranked, const std::vector<OpenedKernel>& opened,
    const std::vector<profile::Stage>& stages) {
  const std::vector<KernelRow>& ranking = ranked.rows;
  const TimePerToken tokens(stages);
  const Calls all = all_steady_time(opened);
  std::vector<profile::Kernel> rows;
  rows.reserve(ranking.size());
  for (size_t i = 0; i < ranking.size(); ++i) {
    profile::Kernel& row = rows.emplace_back(kernel(trace, ranking[i]));
    if (i >= opened.size()) continue;
    row.per_token = tokens.of(opened[i].stages);
    row.stages = times_in_stages(stages, opened[i].stages);
    row.shapes = shapes(opened[i], tokens);
    row.measured = measured_time(steady_time(opened[i].stages), all);
  }
  auto top = top_kernels(rows);
  return {std::move(rows), std::move(top)};
}

std::vector<profile::KernelClassTotal> classes(const KernelRanking& ranked,
                                               const std::vector<OpenedKernel>& opened) {
  const std::vector<KernelRow>& ranking = ranked.rows;
  std::map<KernelClass, Calls> steady;
  for (size_t i = 0; i < std::min(ranking.size(), opened.size()); ++i) {
    add_steady(opened[i].stages, steady[ranking[i].description.kernel_class]);
  }
  const Calls all = all_steady_time(opened);
  std::vector<profile::KernelClassTotal> rows;
  rows.reserve(ranked.classes.size());
  for (const ClassRow& from : ranked.classes) {
    rows.push_back({from.kernel_class,
                    to_milliseconds(from.total),
                    from.calls,
                    {from.share},
                    measured_time(steady[from.kernel_class], all)});
  }
  return rows;
}

profile::Roofline roofline(const trace::Trace& trace, const KernelRanking& ranking,
                           const Roofline& from) {
  profile::Roofline told;
  told.rule_reasons = from.rule;
  told.share_of_kernel_time = bound_shares(ranking, from);
  told.metrics_read = metrics_read(trace);
  told.metrics_of_kernels = metrics_of_kernels(ranking);
  if (from.kernels.empty() && told.metrics_read > 0) {
    if (told.metrics_of_kernels > 0)
      told.missing_metrics = {kNeededMetrics.begin(), kNeededMetrics.end()};
  } else {
    told.why_not_reasons = from.missing;
  }
  for (const KernelRoofline& kernel : from.kernels) {
    const KernelRow& ranked = ranking.rows[kernel.row];
    profile::RooflineKernel& row = told.kernels.emplace_back();
    row.kernel_name = to_printable(trace.strings[ranked.name]);
    row.short_name = ranked.description.short_name;
    row.device = ranked.device;
    row.launches = kernel.launches;
    row.commonest_grid = kernel.grid;
    row.grids = kernel.grids;
    row.flops_per_s = quantity<profile::FlopsPerSecond>(kernel.flops);
    row.bytes_per_s = quantity<profile::BytesPerSecond>(kernel.bytes);
    row.flops_per_byte = quantity<profile::FlopsPerByte>(kernel.intensity);
    row.compute_share_of_peak = of_percent(kernel.compute_percent);
    row.memory_share_of_peak = of_percent(kernel.memory_percent);
    row.bound = kernel.bound;
    row.source = kernel.source;
    if (kernel.by_counters) tell_counters(*kernel.by_counters, row);
  }
  told.sampled = sampled_kernels(from.sampled);
  return told;
}

namespace {

std::vector<profile::Operator> operator_rows(const Operators& found) {
  std::vector<profile::Operator> rows;
  for (const OperatorRow& from : found.rows) {
    profile::Operator& row = rows.emplace_back();
    row.name = to_printable(from.name);
    row.calls = from.calls;
    row.cpu_total = to_milliseconds(from.cpu_total);
    row.cpu_self = to_milliseconds(from.cpu_self);
    row.cuda_total = to_milliseconds(from.cuda_total);
    row.cuda_self = to_milliseconds(from.cuda_self);
    row.mean = to_milliseconds(from.mean_cpu_ns());
    row.kernel_count = from.kernel_count;
    row.flops = quantity<profile::Flops>(from.flops);
    row.bytes = quantity<profile::Bytes>(from.bytes);
    row.flops_per_s = quantity<profile::FlopsPerSecond>(per_second(from.flops, from.cpu_total));
    row.bytes_per_s = quantity<profile::BytesPerSecond>(per_second(from.bytes, from.cpu_total));
  }
  return rows;
}

profile::OperatorsFound operators_found(const Operators& from, const profile::Totals& totals) {
  Nanoseconds launched = 0;
  for (const OperatorRow& row : from.rows) launched += row.cuda_self;
  const Nanoseconds all = from.device_time > 0 ? from.device_time
                                               : totals.kernel_sum_ns.value +
                                                     whole_nanoseconds(totals.memory_operation_sum);
  profile::OperatorsFound told;
  told.source = unless_empty(from.source);
  told.why_not_reasons = from.missing;
  told.kernels_with_operator = from.kernels;
  told.kernels_without_operator = from.kernels_without;
  told.kernels = from.kernels + from.kernels_without;
  told.kernels_share = share(from.kernels, told.kernels);
  told.cuda_self_sum = to_milliseconds(launched);
  told.share_of_gpu_time = share(static_cast<double>(launched), static_cast<double>(all));
  told.graph_kernels = from.graph_kernels;
  told.captured_kernels = from.captured_kernels;
  return told;
}

}  // namespace

std::tuple<std::vector<profile::Operator>, profile::OperatorsFound> operators(
    const Operators& found, const profile::Totals& totals) {
  return {operator_rows(found), operators_found(found, totals)};
}

}  // namespace llmprof::analysis::result
