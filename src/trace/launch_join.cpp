#include "trace/freeze.h"

#include <fmt/format.h>

#include <unordered_map>

namespace llmprof::trace {
namespace {

// Correlation ids of a process count up from 1. They index a plain array, unless some are so large
// that the array would waste memory.
class LaunchesOfProcess {
 public:
  void expect(uint32_t correlation) {
    largest_ = std::max(largest_, correlation);
    ++count_;
  }
  void prepare() {
    dense_ = largest_ / 8 <= count_ + 1024;
    if (dense_) rows_.assign(size_t{largest_} + 1, LaunchRow());
  }
  // A runtime call and the driver call inside it share a correlation; the first one is kept. Calls
  // at different times are all kept: 32-bit correlations wrap around in a long run.
  void add(uint32_t correlation, LaunchRow row, const LaunchTable& launches) {
    LaunchRow& known = dense_ ? rows_[correlation] : sparse_[correlation];
    if (!known.valid()) {
      known = row;
    } else if (launches.end[known.index()] < launches.start[row.index()] ||
               launches.end[row.index()] < launches.start[known.index()]) {
      again_.emplace(correlation, row);
    }
  }
  // The last call with that correlation that started before the work did, otherwise any.
  [[nodiscard]] LaunchRow find(uint32_t correlation, Nanoseconds start,
                               const LaunchTable& launches) const {
    LaunchRow best = first(correlation);
    if (again_.empty() || !best.valid()) return best;
    const auto begin = [&](LaunchRow row) { return launches.start[row.index()]; };
    const auto [from, to] = again_.equal_range(correlation);
    for (auto other = from; other != to; ++other) {
      const LaunchRow row = other->second;
      const bool both_before = begin(row) <= start && begin(best) <= start;
      if (both_before ? begin(row) > begin(best) : begin(row) <= start) best = row;
    }
    return best;
  }

 private:
  [[nodiscard]] LaunchRow first(uint32_t correlation) const {
    if (dense_) return correlation < rows_.size() ? rows_[correlation] : LaunchRow();
    const auto known = sparse_.find(correlation);
    return known == sparse_.end() ? LaunchRow() : known->second;
  }

  uint32_t largest_ = 0;
  size_t count_ = 0;
  bool dense_ = false;
  std::vector<LaunchRow> rows_;
  std::unordered_map<uint32_t, LaunchRow> sparse_;
  std::unordered_multimap<uint32_t, LaunchRow> again_;
};

class LaunchIndex {
 public:
  explicit LaunchIndex(const Trace& trace) : trace_(trace), by_process_(trace.processes.size()) {
    const LaunchTable& launches = trace.launches;
    const auto each = [&](auto&& visit) {
      for (size_t i = 0; i < launches.size(); ++i) {
        if (launches.correlation[i] == 0) continue;
        const ProcessId process = trace.threads[launches.thread[i].index()].process;
        visit(by_process_[process.index()], launches.correlation[i], LaunchRow(i));
      }
    };
    each([](LaunchesOfProcess& p, uint32_t correlation, LaunchRow) { p.expect(correlation); });
    for (LaunchesOfProcess& process : by_process_) process.prepare();
    each([&](LaunchesOfProcess& p, uint32_t correlation, LaunchRow row) {
      p.add(correlation, row, launches);
    });
  }

  // Fills the launch column; returns how many rows have no launch.
  template <class Table>
  size_t fill(Table& work) const {
    const std::vector<QueueId>& queue = work.queue;
    const std::vector<uint32_t>& correlation = work.correlation;
    std::vector<LaunchRow>& launch = work.launch;
    launch.assign(queue.size(), LaunchRow());
    size_t missing = 0;
    for (size_t i = 0; i < queue.size(); ++i) {
      if (correlation[i] != 0) {
        const ProcessId process = trace_.queues[queue[i]].process;
        launch[i] =
            by_process_[process.index()].find(correlation[i], work.start[i], trace_.launches);
      }
      if (!launch[i].valid()) ++missing;
    }
    return missing;
  }

 private:
  const Trace& trace_;
  std::vector<LaunchesOfProcess> by_process_;
};

}  // namespace

void join_launches(Trace& trace) {
  const LaunchIndex index(trace);
  auto& kernels = trace.kernels;
  auto& memory = trace.memory_operations;
  auto& graphs = trace.graph_replays;
  const size_t lone_kernels = index.fill(kernels);
  const size_t lone_others = index.fill(memory) + index.fill(graphs);
  if (trace.launches.size() == 0) return;
  if (lone_kernels > 0) {
    trace.diagnostics.warn("kernels_without_launch",
                           "kernels whose launching API call is not in the capture; they count in "
                           "every total, but no thread or range can be named for them",
                           lone_kernels);
  }
  if (lone_others > 0) {
    trace.diagnostics.info("memory_operations_without_launch",
                           "memory operations or graph replays whose launching API call is not in "
                           "the capture",
                           lone_others);
  }
}

}  // namespace llmprof::trace
