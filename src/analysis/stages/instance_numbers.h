#pragma once

#include <cstdint>
#include <vector>

#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// By row of Stages::instances: its index among the instances of its stage, which is how
// profile.json numbers them.
inline std::vector<uint64_t> numbers_in_stage(const Stages& stages) {
  std::vector<uint64_t> next(stages.stages.size(), 0);
  std::vector<uint64_t> numbers;
  numbers.reserve(stages.instances.size());
  for (const StageInstance& instance : stages.instances) {
    numbers.push_back(next[instance.stage]++);
  }
  return numbers;
}

}  // namespace llmprof::analysis
