#include "analysis/operators/call_stack.h"

#include <algorithm>

namespace llmprof::analysis {

void OperatorStack::open(const OperatorCall& call, const LaunchedWork& work) {
  advance(call.start);
  stack_.push_back({call.start, call.end, 0, call.name, work, work});
  ++open_of_name_[call.name];
}

void OperatorStack::advance(Nanoseconds time) {
  while (!stack_.empty() && stack_.back().end <= time) close();
}

void OperatorStack::close_all() {
  while (!stack_.empty()) close();
}

bool OperatorStack::give(const LaunchedWork& work) {
  if (stack_.empty()) return false;
  stack_.back().own += work;
  stack_.back().all += work;
  return true;
}

void OperatorStack::close() {
  const Open call = stack_.back();
  stack_.pop_back();
  OperatorRow& row = rows_[call.name];
  // Captured calls are made again by each replay, which takes no time of theirs on the CPU.
  const Nanoseconds duration = captured_ ? 0 : call.end - call.start;
  row.calls += captured_ ? call.all.replays : 1;
  row.cpu_self += std::max<Nanoseconds>(duration - call.inner, 0);
  row.cuda_self += call.own.time;
  if (--open_of_name_[call.name] == 0) {
    row.cpu_total += duration;
    row.cuda_total += call.all.time;
    row.kernel_count += call.all.kernels;
  }
  if (stack_.empty()) return;
  Open& outer = stack_.back();
  // A call may stick out of the one around it where the clock is coarse.
  outer.inner += std::min(call.end, outer.end) - call.start;
  outer.all += call.all;
}

}  // namespace llmprof::analysis
