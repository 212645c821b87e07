#pragma once

#include <vector>

#include "analysis/operators/launched_work.h"
#include "analysis/operators/operator_calls.h"
#include "analysis/operators/operators.h"

namespace llmprof::analysis {

// The operators open on one thread as time goes by; what is closed goes into the rows, one per
// name.
class OperatorStack {
 public:
  explicit OperatorStack(std::vector<OperatorRow>& rows)
      : rows_(rows), open_of_name_(rows.size()) {}

  // Whether the calls that follow were captured into a graph, and count as often as it was
  // replayed.
  void captured(bool captured) { captured_ = captured; }
  // Calls come as OperatorCalls orders them. `work` is GPU work known to be the call's own.
  void open(const OperatorCall& call, const LaunchedWork& work);
  // Closes what has ended by then.
  void advance(Nanoseconds time);
  void close_all();
  // To the innermost call; false where none is open.
  bool give(const LaunchedWork& work);

 private:
  struct Open {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    Nanoseconds inner = 0;  // time of the calls directly inside
    uint32_t name = 0;
    LaunchedWork own;
    LaunchedWork all;  // with that of the calls inside
  };
  void close();

  std::vector<OperatorRow>& rows_;
  std::vector<uint32_t> open_of_name_;
  std::vector<Open> stack_;
  bool captured_ = false;
};

}  // namespace llmprof::analysis
