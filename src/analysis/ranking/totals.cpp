#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/ranking/open_ranges.h"
#include "analysis/ranking/same_work.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

// In nanoseconds, before conversion to milliseconds.
struct TimesOfDevice {
  uint64_t kernels = 0;
  Nanoseconds sum = 0;
  std::optional<Nanoseconds> busy;
  std::optional<Nanoseconds> span;
  std::string name;
};
using TimesByLabel = std::multimap<std::string, TimesOfDevice>;  // captures may share labels

TimesByLabel timeline_devices(const trace::Trace& trace) {
  const trace::KernelTable& kernels = trace.kernels;
  std::vector<CoveredSum> busy(trace.devices.size());
  std::vector<Nanoseconds> first(trace.devices.size(), INT64_MAX);
  std::vector<TimesOfDevice> all(trace.devices.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    const size_t device = trace.queues[kernels.queue[i]].device.index();
    busy[device].add(kernels.start[i], kernels.end[i]);
    first[device] = std::min(first[device], kernels.start[i]);
    ++all[device].kernels;
    all[device].sum += kernels.end[i] - kernels.start[i];
  }
  TimesByLabel used;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].kernels == 0) continue;
    all[i].name = trace.devices[i].name;
    all[i].busy = busy[i].sum();
    all[i].span = busy[i].until() - first[i];
    used.emplace(device_label(trace, trace::DeviceId(i)), std::move(all[i]));
  }
  return used;
}

TimesByLabel ranked_devices(const trace::Trace& trace, const KernelRanking& ranking) {
  std::map<std::string, TimesOfDevice> by_label;
  for (const KernelRow& row : ranking.rows) {
    TimesOfDevice& device = by_label[row.device];
    device.kernels += row.calls;
    device.sum += row.total;
  }
  for (size_t i = 0; i < trace.devices.size(); ++i) {
    const auto known = by_label.find(device_label(trace, trace::DeviceId(i)));
    if (known != by_label.end()) known->second.name = trace.devices[i].name;
  }
  return {by_label.begin(), by_label.end()};
}

std::string most_common_range(const trace::Trace& trace) {
  const OpenRanges ranges(trace);
  std::map<std::string, size_t> launches;
  for (const trace::LaunchRow launch : trace.graph_replays.launch) {
    if (!launch.valid()) continue;
    const uint32_t path =
        ranges.at(trace.launches.thread[launch.index()], trace.launches.start[launch.index()]);
    const std::string& labels = ranges.path(path);
    if (!labels.empty()) ++launches[labels.substr(0, labels.find('/'))];
  }
  const auto best =
      std::ranges::max_element(launches, {}, [](const auto& range) { return range.second; });
  const bool most = best != launches.end() && best->second * 2 > trace.graph_replays.size();
  return most ? best->first : std::string();
}

// Replays whose kernels the capture does not show.
std::optional<profile::HiddenGraphs> hidden_graphs(const trace::Trace& trace,
                                                   Nanoseconds kernel_sum,
                                                   Diagnostics& diagnostics) {
  const trace::GraphReplayTable& replays = trace.graph_replays;
  if (replays.size() == 0) return std::nullopt;
  const Nanoseconds time = total_time(replays);
  const profile::Share part = share(time, time + kernel_sum).value_or(profile::Share{});
  const std::string range = most_common_range(trace);
  diagnostics.warn(
      "graph_kernels_missing",
      fmt::format("kernels inside CUDA graphs are not in the table: {} graph replays{}, {:.3f} ms, "
                  "{:.1f} % of GPU time (kernels plus graph replays), were recorded as a whole; "
                  "record again with `nsys profile --cuda-graph-trace=node` to see their kernels",
                  replays.size(), range.empty() ? "" : fmt::format(" launched in {}", range),
                  static_cast<double>(time) / kNanosecondsPerMillisecond, part.value * kPercent));
  return profile::HiddenGraphs{replays.size(), to_milliseconds(time), part, unless_empty(range)};
}

std::vector<profile::KernelScope> scope_rows(const ScopeTotals& scopes, Nanoseconds kernel_sum) {
  std::vector<profile::KernelScope> rows;
  for (size_t i = 0; i < kKernelScopes; ++i) {
    // Most programs do not autotune.
    if (static_cast<KernelScope>(i) == KernelScope::autotuning && scopes[i].calls == 0) continue;
    rows.push_back({static_cast<KernelScope>(i), scopes[i].calls, to_milliseconds(scopes[i].total),
                    share(scopes[i].total, kernel_sum)});
  }
  return rows;
}

}  // namespace

profile::Totals total_up(const trace::Trace& trace, const KernelRanking& ranking,
                         const std::optional<profile::MetricJoin>& join,
                         const std::optional<ScopeTotals>& scopes, Diagnostics& diagnostics) {
  profile::Totals totals;
  const bool timeline = ranking.source == KernelSource::timeline;
  totals.source = ranking.source;
  Nanoseconds sum = 0;
  std::optional<Nanoseconds> busy;  // summed over devices
  std::optional<Nanoseconds> span;  // the longest one: devices of different captures share no clock
  for (const auto& [label, device] :
       timeline ? timeline_devices(trace) : ranked_devices(trace, ranking)) {
    totals.kernel_count += device.kernels;
    sum += device.sum;
    if (device.busy) busy = busy.value_or(0) + *device.busy;
    if (device.span) span = std::max(span.value_or(0), *device.span);
    totals.devices.push_back({label, unless_empty(device.name), device.kernels,
                              to_milliseconds(device.sum), to_milliseconds(device.busy),
                              to_milliseconds(device.span)});
  }
  totals.kernel_sum = to_milliseconds(sum);
  totals.kernel_sum_ns = {sum};
  totals.gpu_busy = to_milliseconds(busy);
  totals.span = to_milliseconds(span);
  totals.device_count = totals.devices.size();
  // With several runs on one GPU, each timeline lists it.
  totals.gpu_count = timeline ? gpus_with_kernels(trace).size() : totals.devices.size();
  totals.memory_operation_count = trace.memory_operations.size();
  totals.memory_operation_sum = to_milliseconds(total_time(trace.memory_operations));
  totals.hidden_graphs = hidden_graphs(trace, sum, diagnostics);
  totals.metric_join = join;
  if (scopes) totals.scopes = scope_rows(*scopes, sum);
  return totals;
}

}  // namespace llmprof::analysis
