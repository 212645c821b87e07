#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// The operator named by an NVTX range of torch.autograd.profiler.emit_nvtx; empty for any other
// text. emit_nvtx (also enabled by nsys's --pytorch=autograd-nvtx) writes the name, then details of
// the call, in this order in all versions:
//   aten::mm, seq = 12, op_id = 345, sizes = [[4, 4], [4, 4]], input_op_ids = [(344,0), ...]
// Without details (old versions, calls outside autograd), only the namespace identifies an
// operator.
std::string_view nvtx_operator_name(std::string_view range_text);

struct OperatorCall {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  uint64_t external_id = 0;  // 0 is none
  uint32_t name = 0;         // index into OperatorCalls::names
};

// Every call of every operator, by thread, outer calls before those inside them.
class OperatorCalls {
 public:
  // Calls recorded by a framework's own trace.
  static OperatorCalls recorded(const trace::Trace& trace);
  // Calls found in NVTX ranges (nvtx_operator_name).
  static OperatorCalls of_ranges(const trace::Trace& trace);

  [[nodiscard]] bool empty() const { return calls_.empty(); }
  [[nodiscard]] size_t size() const { return calls_.size(); }
  [[nodiscard]] const OperatorCall& operator[](size_t call) const { return calls_[call]; }
  [[nodiscard]] size_t first_of(trace::ThreadId thread) const { return first_[thread.index()]; }
  [[nodiscard]] size_t behind_last_of(trace::ThreadId thread) const {
    return first_[thread.index() + 1];
  }
  [[nodiscard]] size_t thread_count() const { return first_.size() - 1; }
  [[nodiscard]] std::span<const std::string_view> names() const { return names_; }

 private:
  class Collector;
  std::vector<OperatorCall> calls_;
  std::vector<size_t> first_;            // by thread; one extra at the end
  std::vector<std::string_view> names_;  // views into the trace
};

// GPU time of kernels, copies and fills.
struct LaunchedWork {
  Nanoseconds time = 0;
  uint64_t kernels = 0;
  uint64_t replays = 0;  // of the graph that captured its calls; 0: not captured

  LaunchedWork& operator+=(const LaunchedWork& more) {
    time += more.time;
    kernels += more.kernels;
    replays = std::max(replays, more.replays);
    return *this;
  }
};

// GPU work launched by each API call. A graph launch has all of its kernels, unless the calls that
// captured them are known.
class WorkOfLaunches {
 public:
  explicit WorkOfLaunches(const trace::Trace& trace);

  struct Launch {
    Nanoseconds start = 0;
    LaunchedWork work;
  };
  // Calls that launched work, by start.
  [[nodiscard]] const std::vector<Launch>& on(trace::ThreadId thread) const {
    return by_thread_[thread.index()];
  }

 private:
  std::vector<std::vector<Launch>> by_thread_;
};

}  // namespace llmprof::analysis
