#pragma once

#include <llmprof/annotate.h>

#include <string>

#include "cpu_llm/operator_cost.h"

namespace cpu_llm {

// A range that is open during the lifetime of the object.
class AnnotatedRange {
 public:
  explicit AnnotatedRange(const char* name) { llmprof_range_push(name); }
  ~AnnotatedRange() { llmprof_range_pop(); }
  AnnotatedRange(const AnnotatedRange&) = delete;
  AnnotatedRange& operator=(const AnnotatedRange&) = delete;
};

// The ranks that communicate, as annotations name them.
struct RankGroup {
  std::string name;
  std::string members;  // "0,1"
  uint32_t size = 1;
};

// Runs operators one after another, annotates each, and sums up their cost.
class OperatorLog {
 public:
  // Every operator takes `slow_by` times as long as it would: the rest is busy work.
  explicit OperatorLog(double slow_by = 1) : slow_by_(slow_by) {}

  template <class Compute>
  void run(const char* name, const OperatorCost& cost, const Compute& compute) {
    const int64_t start_ns = llmprof_now_ns();
    compute();
    int64_t end_ns = llmprof_now_ns();
    if (slow_by_ > 1) end_ns = delayed(start_ns, end_ns);
    llmprof_operator(name, start_ns, end_ns, cost.flops, cost.bytes);
    total_ += cost;
  }

  // `bytes` are those of this rank's message.
  template <class Communicate>
  void communicate(llmprof_collective_kind kind, const char* name, const RankGroup& group,
                   uint64_t bytes, const Communicate& communicate) {
    const int64_t start_ns = llmprof_now_ns();
    communicate();
    llmprof_collective(kind, name, start_ns, llmprof_now_ns(), bytes, group.name.c_str(),
                       group.members.c_str(), group.size);
  }

  // As in the constructor, for the operators that follow.
  void slow_down(double by) { slow_by_ = by; }

  [[nodiscard]] const OperatorCost& total() const { return total_; }
  // The time of all busy work so far.
  [[nodiscard]] int64_t delay_ns() const { return delay_ns_; }

 private:
  int64_t delayed(int64_t start_ns, int64_t end_ns) {
    const int64_t until_ns =
        start_ns + static_cast<int64_t>(slow_by_ * static_cast<double>(end_ns - start_ns));
    int64_t now_ns = end_ns;
    while (now_ns < until_ns) now_ns = llmprof_now_ns();
    delay_ns_ += now_ns - end_ns;
    return now_ns;
  }

  double slow_by_;
  OperatorCost total_;
  int64_t delay_ns_ = 0;
};

}  // namespace cpu_llm
