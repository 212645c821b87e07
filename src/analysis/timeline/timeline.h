#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/naming/classes.h"
#include "profile/timeline.h"
#include "trace/trace.h"

// What GPUs did, in any program: needs no stages.
namespace llmprof::analysis {

// Why a GPU was idle until a piece of its work started: a BudgetPart, the largest cause of the gap.
// By row of the trace's tables; kNotIdle if there was no gap.
struct IdleBefore {
  static constexpr uint8_t kNotIdle = UINT8_MAX;
  std::vector<uint8_t> kernel;
  std::vector<uint8_t> memory_operation;
  std::vector<uint8_t> graph_replay;
};

// For each GPU with any work, from its first work to its last.
using DeviceTimes = std::map<trace::DeviceId, profile::DeviceTime>;
std::tuple<DeviceTimes, IdleBefore> device_times(const trace::Trace& trace,
                                                 const DescribedNames& names,
                                                 const BudgetBasis& basis);

// How kernels reached each GPU that has kernels or graph replays. A launch is a call that put some
// on it; its work starts with the first one.
using DeviceLaunches = std::map<trace::DeviceId, profile::Launches>;
DeviceLaunches find_launches(const trace::Trace& trace);

// Over the whole timeline; by device, then longest total first.
std::vector<profile::Copies> find_copies(const trace::Trace& trace);

}  // namespace llmprof::analysis
