#pragma once

#include <string_view>
#include <vector>

#include "analysis/ranking/kernel_shapes.h"
#include "analysis/roofline/roofline.h"
#include "analysis/savings/savings.h"

namespace llmprof::analysis {

// One kernel's time in one stage beside the least it could take.
struct KernelSavings {
  size_t row = 0;  // of the ranking
  uint32_t stage = 0;
  double time = 0;   // ns per instance, mean; overlap counted in full
  double floor = 0;  // ns per instance
  profile::Reasons floor_rule;
  bool own = false;  // the floor is by what a kernel profiler counted of this kernel
  double most = kAnySaving;
  [[nodiscard]] double recoverable() const { return saving(time, floor, most); }
};

std::string_view floor_basis(const KernelSavings& kernel);

// Where a profiler counted bytes and FLOPs of a kernel, and all its launches in a stage are like
// those, its floor is by them and the GPU's peaks (`gpu` null: not known). Otherwise it is its
// share, by time, of the floor of its class. Largest potential saving first.
std::vector<KernelSavings> kernel_savings(const KernelRanking& ranking,
                                          const std::vector<OpenedKernel>& opened,
                                          const Budgets& budgets,
                                          const std::vector<StageSavings>& recoverable,
                                          const Roofline& roofline, const llm::GpuSpec* gpu);

}  // namespace llmprof::analysis
