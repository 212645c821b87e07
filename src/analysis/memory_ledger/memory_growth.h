#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/stages/stages.h"
#include "profile/memory_ledger.h"
#include "trace/trace.h"

namespace llmprof::analysis {

struct FollowedGrowth {
  uint64_t requests = 0;  // 0: too few to follow
  std::vector<profile::MemoryGrowth> rows;
};

// What a GPU's recorded allocations add up to when each request begins, in requests after warm-up.
// `free_bytes` is what is left at the peak; none: unknown.
FollowedGrowth find_growth(const trace::Trace& trace, const Stages& stages, GpuOfProcess gpu,
                           std::optional<double> free_bytes);

}  // namespace llmprof::analysis
