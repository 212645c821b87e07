#include "analysis/budget/idle_causes.h"

#include <algorithm>
#include <utility>

namespace llmprof {

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

IdleCauses::IdleCauses(const Trace& trace, const std::vector<CoveredTime>& busy)
    : trace_(trace),
      busy_(busy),
      busy_place_(busy.size(), 0),
      synchronising_(trace),
      first_call_(trace.threads.size() + 1, 0) {
  const LaunchTable& launches = trace.launches;
  for (const ThreadId thread : launches.thread) {
    if (thread.valid()) ++first_call_[thread.index() + 1];
  }
  for (size_t i = 1; i < first_call_.size(); ++i) first_call_[i] += first_call_[i - 1];
  calls_.resize(first_call_.back());
  std::vector<uint32_t> next(first_call_.begin(), first_call_.end() - 1);
  for (size_t row = 0; row < launches.size(); ++row) {
    const ThreadId thread = launches.thread[row];
    if (thread.valid()) calls_[next[thread.index()]++] = static_cast<uint32_t>(row);
  }
  for (size_t thread = 0; thread + 1 < first_call_.size(); ++thread) {
    const auto first = calls_.begin() + first_call_[thread];
    const auto last = calls_.begin() + first_call_[thread + 1];
    const auto earlier = [&](uint32_t a, uint32_t b) {
      return launches.start[a] < launches.start[b];
    };
    if (!std::is_sorted(first, last, earlier)) std::sort(first, last, earlier);
  }
}

IdleCauses::WaitingThread& IdleCauses::thread_beside(ThreadId thread, DeviceId device) {
  const auto is_it = [&](const WaitingThread& known) {
    return known.thread == thread && known.device == device;
  };
  if (last_ != nullptr && is_it(*last_)) return *last_;
  std::unique_ptr<WaitingThread>& slot = beside_[{thread.value, device.value}];
  if (slot) return *(last_ = slot.get());
  CoveredTime calls;
  CoveredTime synchronisation;
  for (uint32_t i = first_call_[thread.index()]; i < first_call_[thread.index() + 1]; ++i) {
    const uint32_t row = calls_[i];
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
  const Nanoseconds idle_before = called - from - occupied(device, from, called);
  WaitingThread& thread = thread_beside(trace_.launches.thread[launch.index()], device);
  const Nanoseconds calls = thread.in_calls.within(from, called, thread.calls_place);
  split.synchronisation =
      thread.in_synchronisation.within(from, called, thread.synchronisation_place);
  split.host = idle_before - calls;
  split.launch = idle - split.host - split.synchronisation;
  return split;
}

}  // namespace llmprof
