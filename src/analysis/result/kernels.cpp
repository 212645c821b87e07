#include <algorithm>
#include <map>

#include "analysis/naming/kernel_key.h"
#include "analysis/ranking/longest_kernels.h"
#include "analysis/result/parts.h"
#include "analysis/statistics/values.h"

namespace llmprof::analysis::result {
namespace {

// Kernel time per decode step; none if the kernel does not run in decode.
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

// Adds calls in measured instances, summed over stages.
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
  if (all) told.share = share(time.total, all->total);
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

}  // namespace llmprof::analysis::result
