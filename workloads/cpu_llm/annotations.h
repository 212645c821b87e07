#pragma once

#include <llmprof/annotate.h>

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

// Runs operators one after another, annotates each, and sums up their cost.
class OperatorLog {
 public:
  template <class Compute>
  void run(const char* name, const OperatorCost& cost, const Compute& compute) {
    const int64_t start_ns = llmprof_now_ns();
    compute();
    llmprof_operator(name, start_ns, llmprof_now_ns(), cost.flops, cost.bytes);
    total_ += cost;
  }

  [[nodiscard]] const OperatorCost& total() const { return total_; }

 private:
  OperatorCost total_;
};

}  // namespace cpu_llm
