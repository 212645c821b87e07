#include "analysis/communication/collective_facts.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace llmprof::analysis {

using trace::CollectiveKind;

CollectiveRows::CollectiveRows(const trace::Trace& trace)
    : trace_(trace), outer_(trace.collectives.size()) {
  const trace::CollectiveTable& table = trace.collectives;
  for (size_t i = 0; i < table.size(); ++i) {
    const Row row(i);
    if (table.correlation[i] != 0) {
      by_correlation_.emplace(table.correlation[i], row);
      continue;
    }
    if (table.external_id[i] != 0) by_operator_.emplace(table.external_id[i], row);
    if (table.thread[i].valid()) by_thread_.push_back(row);
  }
  std::sort(by_thread_.begin(), by_thread_.end(), [&](Row a, Row b) {
    const auto order = [&](Row row, Row other) {
      return std::tuple(table.thread[row.index()], table.start[row.index()],
                        table.end[other.index()], row);
    };
    return order(a, b) < order(b, a);
  });
  std::vector<Row> open;
  for (const Row row : by_thread_) {
    const size_t i = row.index();
    while (!open.empty() && (table.thread[open.back().index()] != table.thread[i] ||
                             table.end[open.back().index()] < table.end[i])) {
      open.pop_back();
    }
    if (!open.empty()) outer_[i] = open.back();
    open.push_back(row);
  }
}

bool CollectiveRows::is_of_process(Row row, size_t kernel) const {
  const trace::ThreadId thread = trace_.collectives.thread[row.index()];
  return !thread.valid() || trace_.threads[thread.index()].process ==
                                trace_.queues[trace_.kernels.queue[kernel]].process;
}

bool CollectiveRows::holds(Row row, Nanoseconds time) const {
  return trace_.collectives.start[row.index()] <= time &&
         time <= trace_.collectives.end[row.index()];
}

// Kernels of one graph replay share its correlation: where rows begin tells them apart.
CollectiveRows::Row CollectiveRows::row_of(size_t kernel) const {
  if (by_correlation_.empty() || trace_.kernels.correlation[kernel] == 0) return {};
  const auto [from, to] = by_correlation_.equal_range(trace_.kernels.correlation[kernel]);
  for (auto each = from; each != to; ++each) {
    const bool same_time =
        trace_.collectives.start[each->second.index()] == trace_.kernels.start[kernel];
    if (same_time && is_of_process(each->second, kernel)) return each->second;
  }
  return {};
}

CollectiveRows::Row CollectiveRows::row_of_operator(size_t kernel) const {
  if (by_operator_.empty() || trace_.kernels.external_id.empty()) return {};
  const uint64_t number = trace_.kernels.external_id[kernel];
  if (number == 0) return {};
  // Old PyTorch traces number kernels by their correlation here, which may be some operator's
  // number by chance: the launch tells.
  const trace::LaunchRow launch = trace_.kernels.launch[kernel];
  const bool doubtful = number == trace_.kernels.correlation[kernel] && launch.valid();
  const auto [from, to] = by_operator_.equal_range(number);
  for (auto each = from; each != to; ++each) {
    if (!is_of_process(each->second, kernel)) continue;
    if (!doubtful || holds(each->second, trace_.launches.start[launch.index()])) {
      return each->second;
    }
  }
  return {};
}

CollectiveRows::Row CollectiveRows::open_at(trace::ThreadId thread, Nanoseconds time) const {
  const trace::CollectiveTable& table = trace_.collectives;
  const auto behind = std::upper_bound(
      by_thread_.begin(), by_thread_.end(), std::pair(thread, time), [&](const auto& at, Row row) {
        return at < std::pair(table.thread[row.index()], table.start[row.index()]);
      });
  if (behind == by_thread_.begin()) return {};
  Row row = *(behind - 1);
  if (table.thread[row.index()] != thread) return {};
  while (row.valid() && !holds(row, time)) row = outer_[row.index()];
  return row;
}

void CollectiveRows::add(Row row, CollectiveFacts& facts) const {
  const trace::CollectiveTable& table = trace_.collectives;
  const size_t i = row.index();
  if (facts.kind == CollectiveKind::other) facts.kind = table.kind[i];
  if (facts.bytes == 0) facts.bytes = table.bytes[i];
  if (!facts.group.valid()) facts.group = table.group[i];
  if (!facts.members.valid()) facts.members = table.members[i];
  if (facts.group_size == 0) facts.group_size = table.group_size[i];
  if (facts.sequence == trace::kNoSequence) facts.sequence = table.sequence[i];
}

CollectiveFacts CollectiveRows::of(size_t kernel) const {
  CollectiveFacts facts;
  if (const Row own = row_of(kernel); own.valid()) add(own, facts);
  if (const Row of_operator = row_of_operator(kernel); of_operator.valid()) {
    add(of_operator, facts);
  }
  const trace::LaunchRow launch = trace_.kernels.launch[kernel];
  if (!launch.valid()) return facts;
  const trace::LaunchTable& launches = trace_.launches;
  Row row = open_at(launches.thread[launch.index()], launches.start[launch.index()]);
  for (; row.valid(); row = outer_[row.index()]) add(row, facts);
  return facts;
}

}  // namespace llmprof::analysis
