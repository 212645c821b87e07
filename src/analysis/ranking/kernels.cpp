#include "analysis/ranking/kernels.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>
#include <span>

#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

// Launches of one name on one device.
struct Group {
  trace::StringId name;
  trace::DeviceId device;
  friend bool operator==(const Group&, const Group&) = default;
  [[nodiscard]] size_t hash() const { return trace::hash_mix(name.value, device.value); }
};
using GroupId = trace::Id<struct GroupKind>;

KernelRow row_of(const trace::Trace& trace, const Group& group, std::span<Nanoseconds> durations) {
  KernelRow row;
  row.name = group.name;
  row.device = device_label(trace, group.device);
  row.calls = durations.size();
  for (const Nanoseconds duration : durations) row.total += duration;
  const auto [least, most] = std::ranges::minmax_element(durations);
  row.min = *least;
  row.max = *most;
  row.p50 = median(durations);
  row.p99 = nearest_rank(durations, kTail);
  return row;
}

// Collects durations by group, contiguously: counts first, then places.
std::vector<KernelRow> rows_of(const trace::Trace& trace,
                               const trace::Interner<GroupId, Group>& groups,
                               const std::vector<GroupId>& group_of, const auto& duration_of) {
  std::vector<size_t> end(groups.size() + 1, 0);
  for (const GroupId group : group_of) ++end[group.index() + 1];
  for (size_t i = 1; i < end.size(); ++i) end[i] += end[i - 1];
  std::vector<size_t> next(end.begin(), end.end() - 1);
  std::vector<Nanoseconds> durations(group_of.size());
  for (size_t i = 0; i < group_of.size(); ++i) {
    durations[next[group_of[i].index()]++] = duration_of(i);
  }
  std::vector<KernelRow> rows;
  rows.reserve(groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    rows.push_back(row_of(trace, groups[GroupId(i)],
                          std::span(durations).subspan(end[i], end[i + 1] - end[i])));
  }
  return rows;
}

// Adds FLOPs and bytes of operators; `rows` are in group order.
void add_recorded(const trace::KernelTable& kernels, const std::vector<GroupId>& group_of,
                  std::vector<KernelRow>& rows) {
  if (kernels.flops.empty() && kernels.bytes.empty()) return;
  for (size_t i = 0; i < group_of.size(); ++i) {
    KernelRow& row = rows[group_of[i].index()];
    add_known(row.flops, kernels.flops, i);
    add_known(row.bytes, kernels.bytes, i);
  }
}

// Sets `row_of_kernel` to the row of each kernel.
std::vector<KernelRow> timeline_rows(const trace::Trace& trace,
                                     std::vector<uint32_t>& row_of_kernel) {
  const trace::KernelTable& kernels = trace.kernels;
  trace::Interner<GroupId, Group> groups;
  std::vector<GroupId> group_of(kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    group_of[i] = groups.intern({kernels.name[i], trace.queues[kernels.queue[i]].device});
  }
  std::vector<KernelRow> rows =
      rows_of(trace, groups, group_of, [&](size_t i) { return kernels.end[i] - kernels.start[i]; });
  add_recorded(kernels, group_of, rows);
  row_of_kernel.reserve(group_of.size());
  for (const GroupId group : group_of) row_of_kernel.push_back(group.value);
  return rows;
}

std::vector<KernelRow> profiler_rows(const trace::Trace& trace) {
  const trace::ProfiledLaunchTable& launches = trace.profiled_launches;
  trace::Interner<GroupId, Group> groups;
  std::vector<GroupId> group_of;
  std::vector<Nanoseconds> durations;
  for (size_t i = 0; i < launches.size(); ++i) {
    if (launches.duration[i] == trace::kUnknownDuration) continue;
    const trace::ProfiledIdentity& identity = trace.identities[launches.identity[i]];
    group_of.push_back(groups.intern({identity.name, identity.device}));
    durations.push_back(launches.duration[i]);
  }
  return rows_of(trace, groups, group_of, [&](size_t i) { return durations[i]; });
}

std::vector<KernelRow> summary_rows(const trace::Trace& trace) {
  std::vector<KernelRow> rows;
  trace::Interner<GroupId, Group> groups;
  for (const trace::KernelSummary& summary : trace.kernel_summaries) {
    const GroupId group = groups.intern({summary.name, summary.device});
    if (group.index() == rows.size()) {
      KernelRow row;
      row.name = summary.name;
      row.device = summary.device.valid() ? device_label(trace, summary.device) : "cuda";
      row.min = summary.min;
      row.max = summary.max;
      rows.push_back(std::move(row));
    }
    KernelRow& row = rows[group.index()];
    row.calls += summary.calls;
    row.total += summary.total;
    row.min = std::min(*row.min, summary.min);
    row.max = std::max(*row.max, summary.max);
  }
  return rows;
}

// Longest total first.
void sort_rows(const trace::Trace& trace, KernelRanking& ranking) {
  std::vector<KernelRow>& rows = ranking.rows;
  std::vector<uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](uint32_t left, uint32_t right) {
    const KernelRow& a = rows[left];
    const KernelRow& b = rows[right];
    if (a.total != b.total) return a.total > b.total;
    const std::string_view name_a = trace.strings[a.name];
    const std::string_view name_b = trace.strings[b.name];
    return name_a != name_b ? name_a < name_b : a.device < b.device;
  });
  std::vector<KernelRow> sorted;
  sorted.reserve(rows.size());
  std::vector<uint32_t> place(rows.size());
  for (const uint32_t row : order) {
    place[row] = static_cast<uint32_t>(sorted.size());
    sorted.push_back(std::move(rows[row]));
  }
  rows = std::move(sorted);
  for (uint32_t& row : ranking.row_of_kernel) row = place[row];
}

// Whether all captures with work on a device have a rank, and no two the same.
bool ranks_distinguish_captures(const trace::Trace& trace) {
  std::vector<bool> has_work(trace.captures.size());
  for (const trace::Queue& queue : trace.queues.values()) {
    if (queue.device.valid()) has_work[trace.devices[queue.device.index()].capture.index()] = true;
  }
  std::set<uint32_t> ranks;
  for (size_t i = 0; i < trace.captures.size(); ++i) {
    if (!has_work[i]) continue;
    const auto& rank = trace.captures[i].rank;
    if (!rank || !ranks.insert(*rank).second) return false;
  }
  return true;
}

}  // namespace

std::string device_label(const trace::Trace& trace, trace::DeviceId device) {
  if (!device.valid()) return "cuda";
  const trace::Device& info = trace.devices[device.index()];
  std::string label =
      (info.kind == trace::DeviceKind::cpu ? "cpu:" : "cuda:") + std::to_string(info.ordinal);
  const bool several = std::ranges::any_of(trace.queues.values(), [&](const trace::Queue& queue) {
    return queue.device.valid() && trace.devices[queue.device.index()].capture != info.capture;
  });
  if (!several) return label;
  const trace::Capture& capture = trace.captures[info.capture.index()];
  if (capture.rank && ranks_distinguish_captures(trace)) {
    return "rank" + std::to_string(*capture.rank) + "/" + label;
  }
  return std::filesystem::path(capture.path).filename().string() + "/" + label;
}

KernelRanking rank_kernels(const trace::Trace& trace, const DescribedNames& names) {
  KernelRanking ranking;
  if (trace.kernels.size() > 0) {
    ranking.source = KernelSource::timeline;
    ranking.rows = timeline_rows(trace, ranking.row_of_kernel);
  } else if (!trace.kernel_summaries.empty()) {
    ranking.source = KernelSource::summary;
    ranking.rows = summary_rows(trace);
  } else if (trace.profiled_launches.size() > 0) {
    ranking.source = KernelSource::profiler;
    ranking.rows = profiler_rows(trace);
  }
  for (KernelRow& row : ranking.rows) row.description = names[row.name];
  for (const KernelRow& row : ranking.rows) {
    ranking.calls += row.calls;
    ranking.total += row.total;
  }
  for (KernelRow& row : ranking.rows) {
    if (ranking.total > 0) {
      row.share = static_cast<double>(row.total) / static_cast<double>(ranking.total);
    }
  }
  sort_rows(trace, ranking);
  return ranking;
}

}  // namespace llmprof::analysis
