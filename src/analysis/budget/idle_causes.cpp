#include "analysis/budget/idle_causes.h"

#include <algorithm>
#include <utility>

namespace llmprof {
namespace {

// A free GPU begins some microseconds after the launch; even large graphs do within this time.
constexpr Nanoseconds kLongInQueue = 1'000'000;

}  // namespace

BudgetPart IdleSplit::cause(BudgetPart edge_part) const {
  const std::pair<Nanoseconds, BudgetPart> parts[] = {
      {launch, BudgetPart::idle_launch},
      {synchronisation, BudgetPart::idle_synchronisation},
      {host, BudgetPart::idle_host},
      {queued, BudgetPart::idle_queued},
      {edge, edge_part},
      {unknown, BudgetPart::unattributed},
  };
  return std::max_element(std::begin(parts), std::end(parts),
                          [](const auto& a, const auto& b) { return a.first < b.first; })
      ->second;
}

void IdleSplit::charge_to(PartTimes& times, BudgetPart edge_part) const {
  const auto add = [&](BudgetPart part, Nanoseconds time) {
    times[static_cast<size_t>(part)] += time;
  };
  add(BudgetPart::idle_launch, launch);
  add(BudgetPart::idle_synchronisation, synchronisation);
  add(BudgetPart::idle_host, host);
  add(BudgetPart::idle_queued, queued);
  add(edge_part, edge);
  add(BudgetPart::unattributed, unknown + occupied);
}

// A thread's CUDA calls where a device was idle.
struct IdleCauses::WaitingThread {
  ThreadId thread;
  DeviceId device;
  CoveredTime in_calls;
  CoveredTime in_synchronisation;
  size_t calls_place = 0;
  size_t synchronisation_place = 0;
};

IdleCauses::~IdleCauses() = default;

IdleCauses::IdleCauses(const Trace& trace, const CallsByThread& calls,
                       const std::vector<CoveredTime>& busy)
    : trace_(trace),
      calls_(calls),
      busy_(busy),
      busy_place_(busy.size(), 0),
      synchronising_(trace) {}

IdleCauses::WaitingThread& IdleCauses::thread_beside(ThreadId thread, DeviceId device) {
  const auto is_it = [&](const WaitingThread& known) {
    return known.thread == thread && known.device == device;
  };
  if (last_ != nullptr && is_it(*last_)) return *last_;
  std::unique_ptr<WaitingThread>& slot = beside_[{thread.value, device.value}];
  if (slot) return *(last_ = slot.get());
  CoveredTime calls;
  CoveredTime synchronisation;
  calls.reserve(calls_.of(thread).size());
  for (const uint32_t row : calls_.of(thread)) {
    const Nanoseconds start = trace_.launches.start[row];
    const Nanoseconds end = trace_.launches.end[row];
    calls.add(start, end);
    if (synchronising_[trace_.launches.api[row]]) synchronisation.add(start, end);
  }
  const CoveredTime& busy = busy_[device.index()];
  slot = std::make_unique<WaitingThread>();
  slot->thread = thread;
  slot->device = device;
  slot->in_calls = calls.outside(busy);
  slot->in_synchronisation = synchronisation.outside(busy);
  return *(last_ = slot.get());
}

Nanoseconds IdleCauses::occupied(DeviceId device, Nanoseconds from, Nanoseconds to) {
  return busy_[device.index()].within(from, to, busy_place_[device.index()]);
}

IdleSplit IdleCauses::at_edge(DeviceId device, Nanoseconds from, Nanoseconds to) {
  IdleSplit split;
  split.occupied = occupied(device, from, to);
  split.edge = to - from - split.occupied;
  return split;
}

IdleSplit IdleCauses::before_first(DeviceId device, Nanoseconds from, Nanoseconds to,
                                   LaunchRow launch) {
  IdleSplit split = at_edge(device, from, to);
  if (!launch.valid()) return split;
  const Nanoseconds returned = std::clamp(trace_.launches.end[launch.index()], from, to);
  if (to - returned < kLongInQueue) return split;
  split.queued = to - returned - occupied(device, returned, to);
  split.edge -= split.queued;
  return split;
}

IdleSplit IdleCauses::between(DeviceId device, Nanoseconds from, Nanoseconds to, LaunchRow launch,
                              bool later_of_launch) {
  IdleSplit split;
  split.occupied = occupied(device, from, to);
  const Nanoseconds idle = to - from - split.occupied;
  const bool known = launch.valid() && trace_.launches.thread[launch.index()].valid();
  if (!known) {
    split.unknown = idle;
    return split;
  }
  // A call that had not returned when the GPU ran dry came late, too.
  if (later_of_launch || trace_.launches.end[launch.index()] <= from) {
    split.queued = idle;
    return split;
  }
  const Nanoseconds called = std::clamp(trace_.launches.start[launch.index()], from, to);
  const Nanoseconds others = split.occupied == 0 ? 0 : occupied(device, from, called);
  WaitingThread& thread = thread_beside(trace_.launches.thread[launch.index()], device);
  const Nanoseconds calls = thread.in_calls.within(from, called, thread.calls_place);
  split.synchronisation =
      thread.in_synchronisation.within(from, called, thread.synchronisation_place);
  split.host = called - from - others - calls;
  split.launch = idle - split.host - split.synchronisation;
  return split;
}

}  // namespace llmprof
