#pragma once

#include <array>
#include <utility>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/budget/budget_basis.h"

namespace llmprof::analysis {

// A period in which no GPU work of an instance ran, by cause; the parts sum to its length.
struct IdleSplit {
  Nanoseconds launch = 0;
  Nanoseconds synchronization = 0;
  Nanoseconds host = 0;
  Nanoseconds queued = 0;
  Nanoseconds edge = 0;      // before the first or after the last GPU work
  Nanoseconds unknown = 0;   // no launch record
  Nanoseconds occupied = 0;  // other GPU work ran

  // The largest part except `occupied`, which is not idle time; for an edge, that edge.
  [[nodiscard]] BudgetPart cause(BudgetPart edge_part) const;
  void charge_to(PartTimes& times, BudgetPart edge_part) const;
  // In the queue for much longer than a launch takes: the GPU was busy with something else.
  [[nodiscard]] bool waited_long() const;
  [[nodiscard]] Nanoseconds idle() const {
    return launch + synchronization + host + queued + edge + unknown;
  }

 private:
  using Part = std::pair<Nanoseconds, BudgetPart>;
  [[nodiscard]] std::array<Part, 6> idle_parts(BudgetPart edge_part) const;
};

// Why a GPU was idle, from what the launching thread did meanwhile. Fastest if asked roughly in
// order of time.
class IdleCauses {
 public:
  // `busy` holds one entry per device. All three must outlive this.
  IdleCauses(const trace::Trace& trace, const CallsByThread& calls,
             const std::vector<CoveredTime>& busy);

  // Between two pieces of GPU work: `launch` is the second one's call. `later_of_launch`: this call
  // has already put other work on the GPU (a CUDA graph). Once the call has returned and the launch
  // latency has passed, the work waits for something other than its launch.
  IdleSplit between(trace::DeviceId device, Nanoseconds from, Nanoseconds to,
                    trace::LaunchRow launch, bool later_of_launch) {
    return while_occupied(device, from, to, occupied(device, from, to), launch, later_of_launch);
  }
  // The same if the time for which the device did other work is known.
  IdleSplit while_occupied(trace::DeviceId device, Nanoseconds from, Nanoseconds to,
                           Nanoseconds occupied_time, trace::LaunchRow launch,
                           bool later_of_launch);
  // Before the first work, whose call is `launch`. A long time after this call's return is queued
  // time, since an idle GPU would have started at once.
  IdleSplit before_first(trace::DeviceId device, Nanoseconds from, Nanoseconds to,
                         trace::LaunchRow launch);
  // Before the first work or after the last.
  IdleSplit at_edge(trace::DeviceId device, Nanoseconds from, Nanoseconds to);

 private:
  Nanoseconds occupied(trace::DeviceId device, Nanoseconds from, Nanoseconds to);

  const trace::Trace& trace_;
  const CallsByThread& calls_;
  const std::vector<CoveredTime>& busy_;
  std::vector<size_t> busy_place_;
  std::vector<size_t> call_place_;  // by thread
};

}  // namespace llmprof::analysis
