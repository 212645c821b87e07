#pragma once

#include <string>
#include <vector>

#include "analysis/layers/kernel_shapes.h"
#include "analysis/utilization/recoverable.h"

namespace llmprof {

// One kernel's time in one stage beside the least it could take.
struct KernelRecoverable {
  size_t row = 0;  // of the ranking
  uint32_t stage = 0;
  double time = 0;   // ns an instance, mean; overlap counted in full
  double floor = 0;  // ns an instance
  std::string floor_rule;
  [[nodiscard]] double recoverable() const { return time > floor ? time - floor : 0; }
};

// A kernel's floor is its share, by time, of the floor of its class. The most recoverable first.
std::vector<KernelRecoverable> kernel_recoverable(const KernelRanking& ranking,
                                                  const std::vector<OpenedKernel>& opened,
                                                  const Budgets& budgets,
                                                  const std::vector<StageRecoverable>& recoverable);

}  // namespace llmprof
