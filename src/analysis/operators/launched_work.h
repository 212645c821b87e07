#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// GPU time of kernels, copies and fills.
struct LaunchedWork {
  Nanoseconds time = 0;
  uint64_t kernels = 0;
  uint64_t replays = 0;  // of the graph that its calls were captured into; 0: not captured

  LaunchedWork& operator+=(const LaunchedWork& more) {
    time += more.time;
    kernels += more.kernels;
    replays = std::max(replays, more.replays);
    return *this;
  }
};

// The GPU work behind each API call: a graph's launch stands for all its kernels, unless the calls
// that captured them are known.
class WorkOfLaunches {
 public:
  explicit WorkOfLaunches(const trace::Trace& trace);

  struct Launch {
    Nanoseconds start = 0;
    LaunchedWork work;
  };
  // Calls with work behind them, by start.
  [[nodiscard]] const std::vector<Launch>& on(trace::ThreadId thread) const {
    return by_thread_[thread.index()];
  }

 private:
  std::vector<std::vector<Launch>> by_thread_;
};

}  // namespace llmprof::analysis
