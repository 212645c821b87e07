#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/naming/described_names.h"
#include "profile/timeline.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// Why a GPU had nothing to do until a piece of its work began: a BudgetPart, the largest cause of
// the gap. By row of the trace's tables, whose work may also have begun while other work ran.
struct IdleBefore {
  static constexpr uint8_t kNotIdle = UINT8_MAX;
  std::vector<uint8_t> kernel;
  std::vector<uint8_t> memory_operation;
  std::vector<uint8_t> graph_replay;
};

// What each GPU with any work did from its first work to its last, whatever the program: no stages
// are needed.
using DeviceTimes = std::map<trace::DeviceId, profile::DeviceTime>;
std::tuple<DeviceTimes, IdleBefore> device_times(const trace::Trace& trace,
                                                 const DescribedNames& names,
                                                 const BudgetBasis& basis);

}  // namespace llmprof::analysis
