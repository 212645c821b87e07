#include "trace/freeze.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace llmprof::trace {
namespace {

// Every recording loses less than this at its edges.
constexpr double kWorthAWarning = 0.01;

bool launches_work(ApiKind kind) {
  return kind == ApiKind::launch || kind == ApiKind::graph_launch;
}

bool matters(ApiKind kind) {
  return launches_work(kind) || kind == ApiKind::capture_begin || kind == ApiKind::capture_end;
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

void report_lone_launches(Trace& trace) {
  const LaunchTable& launches = trace.launches;
  const std::vector<char> with_work = launches_with_work(trace);
  const auto kind_of = [&](uint32_t row) { return trace.api_kind(launches.api[row]); };
  if (!any_lone(trace, with_work)) return;
  std::vector<std::vector<uint32_t>> of_thread(trace.threads.size());
  for (uint32_t row = 0; row < launches.size(); ++row) {
    if (!matters(kind_of(row)) || !launches.thread[row].valid()) continue;
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
  if (much) {
    trace.diagnostics.warn("launches_without_kernels", message);
  } else {
    trace.diagnostics.info("launches_without_kernels", message);
  }
}

}  // namespace llmprof::trace
