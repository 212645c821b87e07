#include "analysis/budget/idle_causes.h"

#include <algorithm>

namespace llmprof::analysis {
namespace {

// A free GPU starts within microseconds of the launch; even large graphs stay below this.
constexpr Nanoseconds kLongInQueue = 1'000'000;

// A GPU with nothing else to do starts work within this time after the launching call returned: 2.7
// us in 99 % of 60,000 launches of kernels, copies and graphs on H100, H200 and T4, never above 16.
// Beyond it, the work waits for something other than its launch.
constexpr Nanoseconds kLaunchLatency = 20'000;

}  // namespace

std::array<IdleSplit::Part, 6> IdleSplit::idle_parts(BudgetPart edge_part) const {
  return {{{launch, BudgetPart::idle_launch},
           {synchronization, BudgetPart::idle_synchronization},
           {host, BudgetPart::idle_host},
           {queued, BudgetPart::idle_queued},
           {edge, edge_part},
           {unknown, BudgetPart::unattributed}}};
}

BudgetPart IdleSplit::cause(BudgetPart edge_part) const {
  return std::ranges::max(idle_parts(edge_part), {}, &Part::first).second;
}

bool IdleSplit::waited_long() const { return queued >= kLongInQueue; }

void IdleSplit::charge_to(PartTimes& times, BudgetPart edge_part) const {
  for (const auto& [time, part] : idle_parts(edge_part)) times[static_cast<size_t>(part)] += time;
  times[static_cast<size_t>(BudgetPart::unattributed)] += occupied;
}

IdleCauses::IdleCauses(const trace::Trace& trace, const CallsByThread& calls,
                       const std::vector<CoveredTime>& busy)
    : trace_(trace),
      calls_(calls),
      busy_(busy),
      busy_place_(busy.size(), 0),
      call_place_(trace.threads.size(), 0) {}

Nanoseconds IdleCauses::occupied(trace::DeviceId device, Nanoseconds from, Nanoseconds to) {
  return busy_[device.index()].within(from, to, busy_place_[device.index()]);
}

IdleSplit IdleCauses::at_edge(trace::DeviceId device, Nanoseconds from, Nanoseconds to) {
  IdleSplit split;
  split.occupied = occupied(device, from, to);
  split.edge = to - from - split.occupied;
  return split;
}

IdleSplit IdleCauses::before_first(trace::DeviceId device, Nanoseconds from, Nanoseconds to,
                                   trace::LaunchRow launch) {
  IdleSplit split = at_edge(device, from, to);
  if (!launch.valid()) return split;
  const Nanoseconds returned = std::clamp(trace_.launches.end[launch.index()], from, to);
  if (to - returned < kLongInQueue) return split;
  split.queued = to - returned - occupied(device, returned, to);
  split.edge -= split.queued;
  return split;
}

IdleSplit IdleCauses::while_occupied(trace::DeviceId device, Nanoseconds from, Nanoseconds to,
                                     Nanoseconds occupied_time, trace::LaunchRow launch,
                                     bool later_of_launch) {
  IdleSplit split;
  split.occupied = occupied_time;
  const Nanoseconds idle = to - from - split.occupied;
  const bool known = launch.valid() && trace_.launches.thread[launch.index()].valid();
  if (!known) {
    split.unknown = idle;
    return split;
  }
  // A call that had not returned when the GPU ran dry was late, too.
  if (later_of_launch || trace_.launches.end[launch.index()] <= from) {
    split.queued = idle;
    return split;
  }
  const Nanoseconds called = std::clamp(trace_.launches.start[launch.index()], from, to);
  const Nanoseconds others = split.occupied == 0 ? 0 : occupied(device, from, called);
  const trace::ThreadId thread = trace_.launches.thread[launch.index()];
  Nanoseconds in_calls = 0;
  Nanoseconds calls_until = from;
  Nanoseconds synchronized_until = from;
  // Time of [from, called) in a call, minus other GPU work; nested calls count once.
  const auto added = [&](Nanoseconds start, Nanoseconds end, Nanoseconds& until) {
    start = std::max(start, until);
    end = std::min(end, called);
    if (end <= start) return Nanoseconds{0};
    until = end;
    return end - start - (others == 0 ? 0 : occupied(device, start, end));
  };
  calls_.each(trace_, thread, from, called, call_place_[thread.index()], [&](uint32_t row) {
    const Nanoseconds start = trace_.launches.start[row];
    const Nanoseconds end = trace_.launches.end[row];
    in_calls += added(start, end, calls_until);
    if (trace::waits_for_gpu(trace_.api_kind(trace_.launches.api[row]))) {
      split.synchronization += added(start, end, synchronized_until);
    }
  });
  split.host = called - from - others - in_calls;
  const Nanoseconds returned = std::clamp(trace_.launches.end[launch.index()], called, to);
  if (to - returned > kLaunchLatency) {
    split.queued = to - returned - (split.occupied == 0 ? 0 : occupied(device, returned, to));
  }
  split.launch = idle - split.host - split.synchronization - split.queued;
  return split;
}

}  // namespace llmprof::analysis
