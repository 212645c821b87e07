#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/stages/stages.h"
#include "base/units.h"
#include "llm/model_spec.h"
#include "profile/memory_ledger.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// What a part of a GPU's memory takes up.
struct BalanceRow {
  profile::LedgerPart part = profile::LedgerPart::rest;
  std::string owner;
  int64_t bytes = 0;
  uint64_t allocations = 0;
  profile::LedgerBasis basis = profile::LedgerBasis::recorded;
};

// One time, and all that is known about what is in use.
struct MemoryBalance {
  Nanoseconds time = 0;
  std::optional<size_t> reading;  // row of memory_readings; none: only allocations are known
  uint64_t used = 0;              // bytes, according to the reading; without one the sum of rows
  std::vector<BalanceRow> rows;
};

// The readings of the GPU up to `until` at which memory had settled, in order of time: the rows of
// each sum to the memory that was used. `model` may be null.
std::vector<MemoryBalance> find_balances(const trace::Trace& trace, const Stages& stages,
                                         const llm::ModelSpec* model, GpuOfProcess gpu,
                                         Nanoseconds until);

// What the GPU's recorded allocations hold at these times, which increase.
std::vector<MemoryBalance> recorded_balances(const trace::Trace& trace, const Stages& stages,
                                             const llm::ModelSpec* model, GpuOfProcess gpu,
                                             const std::vector<Nanoseconds>& times);

}  // namespace llmprof::analysis
