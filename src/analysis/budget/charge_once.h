#pragma once

#include "analysis/budget/budget.h"

namespace llmprof::analysis {

// Charges the time of overlapping GPU work once. Work comes in order of its start.
class ChargeOnce {
 public:
  // What runs before what is charged: `part` is paid for [start, end) less what was or will be
  // charged to work that goes first.
  void kernel(Nanoseconds start, Nanoseconds end, size_t part, PartTimes& times);
  void communication(Nanoseconds start, Nanoseconds end, PartTimes& times);
  void memory(Nanoseconds start, Nanoseconds end, PartTimes& times);
  // Charges what was still waiting for work that goes first.
  void finish(PartTimes& times);

 private:
  // Time that is charged to `part` unless work that goes first covers it.
  struct Waiting {
    Nanoseconds from = INT64_MIN;
    Nanoseconds to = INT64_MIN;

    void charge_until(Nanoseconds time, Nanoseconds& part);
    void cover(Nanoseconds start, Nanoseconds end, Nanoseconds& part);
    void extend(Nanoseconds start, Nanoseconds end, Nanoseconds& part);
  };
  Nanoseconds kernels_until_ = INT64_MIN;
  Nanoseconds communication_until_ = INT64_MIN;
  Waiting communication_;
  Waiting memory_;
};

}  // namespace llmprof::analysis
