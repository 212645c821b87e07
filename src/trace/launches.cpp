#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "trace/freeze.h"

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
    work.launch.assign(work.size(), LaunchRow());
    size_t missing = 0;
    for (size_t i = 0; i < work.size(); ++i) {
      if (const uint32_t correlation = work.correlation[i]; correlation != 0) {
        const ProcessId process = trace_.queues[work.queue[i]].process;
        work.launch[i] =
            by_process_[process.index()].find(correlation, work.start[i], trace_.launches);
      }
      if (!work.launch[i].valid()) ++missing;
    }
    return missing;
  }

 private:
  const Trace& trace_;
  std::vector<LaunchesOfProcess> by_process_;
};

// Every recording loses less than this at its edges.
constexpr double kWorthAWarning = 0.01;

bool launches_work(ApiKind kind) {
  return kind == ApiKind::launch || kind == ApiKind::graph_launch;
}
bool concerns_captures(ApiKind kind) {
  return kind == ApiKind::capture_begin || kind == ApiKind::capture_end;
}

struct LaunchCounts {
  size_t launches = 0;
  size_t lone = 0;
};

// By process: whether its launches without work may have gone into a CUDA graph. Our collector does
// not record the calls that start and end a graph capture.
std::vector<bool> processes_with_unseen_captures(const Trace& trace) {
  std::vector<bool> unseen(trace.processes.size(), false);
  const LaunchTable& launches = trace.launches;
  for (size_t row = 0; row < launches.size(); ++row) {
    if (trace.api_kind(launches.api[row]) != ApiKind::graph_launch) continue;
    if (!launches.thread[row].valid()) continue;
    const ProcessId process = trace.threads[launches.thread[row].index()].process;
    const CaptureId capture = trace.processes[process.index()].capture;
    unseen[process.index()] = trace.captures[capture.index()].tool == kCollectorTool;
  }
  return unseen;
}

// Counts the launches of one thread. Its calls come in order of their starts, outer ones first.
class ThreadLaunches {
 public:
  explicit ThreadLaunches(bool unseen_captures) : unseen_captures_(unseen_captures) {}

  void add(ApiKind kind, Nanoseconds start, Nanoseconds end, bool has_work) {
    if (!launches_work(kind)) {
      capturing_ = kind == ApiKind::capture_begin;
      return;
    }
    if (open_ && start < until_) {  // inside another launch
      has_work_ = has_work_ || has_work;
      return;
    }
    finish();
    const bool may_be_captured = capturing_ || (unseen_captures_ && kind == ApiKind::launch);
    open_ = has_work || !may_be_captured;
    has_work_ = has_work;
    until_ = end;
  }
  LaunchCounts finish() {
    if (open_) {
      ++counts_.launches;
      if (!has_work_) ++counts_.lone;
    }
    open_ = false;
    return counts_;
  }

 private:
  LaunchCounts counts_;
  bool unseen_captures_;
  bool capturing_ = false;
  bool open_ = false;
  bool has_work_ = false;
  Nanoseconds until_ = 0;
};

// By launch; a byte each, because there are millions.
std::vector<char> launches_with_work(const Trace& trace) {
  std::vector<char> with_work(trace.launches.size(), 0);
  const auto mark = [&](const std::vector<LaunchRow>& rows) {
    for (const LaunchRow row : rows) {
      if (row.valid()) with_work[row.index()] = 1;
    }
  };
  mark(trace.kernels.launch);
  mark(trace.memory_operations.launch);
  mark(trace.graph_replays.launch);
  return with_work;
}

// Usually there is none, and nothing has to be sorted. A driver launch inside a runtime launch may
// look like one.
bool any_lone(const Trace& trace, const std::vector<char>& with_work) {
  const LaunchTable& launches = trace.launches;
  for (size_t row = 0; row < launches.size(); ++row) {
    if (with_work[row] == 0 && launches.thread[row].valid() &&
        launches_work(trace.api_kind(launches.api[row]))) {
      return true;
    }
  }
  return false;
}

}  // namespace

void join_launches(Trace& trace) {
  const LaunchIndex index(trace);
  const size_t lone_kernels = index.fill(trace.kernels);
  const size_t lone_others = index.fill(trace.memory_operations) + index.fill(trace.graph_replays);
  if (trace.launches.size() == 0) return;
  trace.diagnostics.warn("kernels_without_launch",
                         "kernels whose launching API call is not in the capture; they count in "
                         "every total, but no thread or range can be named for them",
                         lone_kernels);
  trace.diagnostics.info("memory_operations_without_launch",
                         "memory operations or graph replays whose launching API call is not in "
                         "the capture",
                         lone_others);
}

void report_lone_launches(Trace& trace) {
  const LaunchTable& launches = trace.launches;
  const std::vector<char> with_work = launches_with_work(trace);
  const auto kind_of = [&](uint32_t row) { return trace.api_kind(launches.api[row]); };
  if (!any_lone(trace, with_work)) return;
  std::vector<std::vector<uint32_t>> of_thread(trace.threads.size());
  for (uint32_t row = 0; row < launches.size(); ++row) {
    const bool matters = launches_work(kind_of(row)) || concerns_captures(kind_of(row));
    if (!matters || !launches.thread[row].valid()) continue;
    of_thread[launches.thread[row].index()].push_back(row);
  }
  const auto earlier = [&](uint32_t a, uint32_t b) {
    if (launches.start[a] != launches.start[b]) return launches.start[a] < launches.start[b];
    return launches.end[a] > launches.end[b];
  };
  const std::vector<bool> unseen_captures = processes_with_unseen_captures(trace);
  LaunchCounts all;
  for (size_t i = 0; i < of_thread.size(); ++i) {
    std::vector<uint32_t>& rows = of_thread[i];
    // Captures mostly list a thread's calls in order.
    if (!std::is_sorted(rows.begin(), rows.end(), earlier)) {
      std::sort(rows.begin(), rows.end(), earlier);
    }
    ThreadLaunches thread(unseen_captures[trace.threads[i].process.index()]);
    for (const uint32_t row : rows) {
      thread.add(kind_of(row), launches.start[row], launches.end[row], with_work[row] != 0);
    }
    const LaunchCounts counts = thread.finish();
    all.launches += counts.launches;
    all.lone += counts.lone;
  }
  if (all.lone == 0) return;
  const std::string message = fmt::format(
      "{} of {} kernel and graph {} {} no work on a GPU in this capture: it was not recorded, and "
      "every total lacks it",
      all.lone, all.launches, plural_of(all.launches, "launch"), all.lone == 1 ? "has" : "have");
  const bool much =
      static_cast<double>(all.lone) >= kWorthAWarning * static_cast<double>(all.launches);
  trace.diagnostics.add(much ? Severity::warning : Severity::info, "launches_without_kernels",
                        message);
}

}  // namespace llmprof::trace
