#pragma once

#include <cstdint>

// Which steps are traced, decided step by step. Plain values; steps are counted from 1.
namespace llmprof::collector {

inline constexpr uint64_t kNeverAgain = UINT64_MAX;

// Of every `period` steps the first `traced` are traced. A period of 0: all.
struct DutyCycle {
  uint32_t traced = 0;
  uint32_t period = 0;

  struct Place {
    bool traced = false;
    uint64_t next_change = 0;  // the step with which this is over
  };

  [[nodiscard]] bool is_set() const { return period > 0; }

  // `armed_at`: the last step before the collector was armed.
  [[nodiscard]] Place at(uint64_t step, uint64_t armed_at) const {
    const uint64_t place = (step - armed_at - 1) % period;
    if (place < traced) return {true, step + traced - place};
    return {false, step + period - place};
  }
};

// Detach after this many steps. 0: never.
struct StepLimit {
  uint64_t steps = 0;

  // The first step that is not traced.
  [[nodiscard]] uint64_t end(uint64_t armed_at) const {
    return steps > 0 ? armed_at + steps + 1 : kNeverAgain;
  }
};

// What tracing has cost the program so far, ns.
struct OverheadSoFar {
  int64_t tracing = 0;  // launches and kernels
  int64_t changes = 0;  // attaching, detaching
};

// A window is traced whenever what all windows cost, assuming this one costs as much as their mean,
// is within the budget. What came before the first step (start, warm-up, prefill) was traced in
// full and is not counted.
class OverheadBudget {
 public:
  static constexpr uint64_t kWindowSteps = 8;

  explicit constexpr OverheadBudget(double share = 0) : share_(share) {}

  [[nodiscard]] bool is_set() const { return share_ > 0; }
  [[nodiscard]] bool has_begun() const { return windows_ > 0; }

  // With the first step, which opens the first window.
  void begin(int64_t now, OverheadSoFar before) {
    windows_ = 1;
    since_ = now;
    before_ = before;
  }

  // Whether the next window may open now; then it counts.
  bool allows_window(int64_t now, OverheadSoFar so_far) {
    const auto spent =
        static_cast<double>(so_far.tracing - before_.tracing + so_far.changes - before_.changes);
    const double expected = spent + spent / static_cast<double>(windows_) + kAttachingCost;
    if (expected > share_ * static_cast<double>(now - since_)) return false;
    ++windows_;
    return true;
  }

 private:
  // Attaching to a running program takes 8 to 17 ms (docs/measurements.md).
  static constexpr double kAttachingCost = 15'000'000;

  double share_;  // of the program's time
  int64_t windows_ = 0;
  int64_t since_ = 0;
  OverheadSoFar before_;
};

}  // namespace llmprof::collector
