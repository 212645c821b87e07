#pragma once

#include <algorithm>
#include <cstdint>

#include "wire/cuda_records.h"

// Which steps are traced, decided step by step. Plain values; steps are counted from 1.
namespace llmprof::collector {

inline constexpr uint64_t kNeverAgain = UINT64_MAX;

// Traces the first `traced` of every `period` steps; all if the period is 0.
struct DutyCycle {
  uint32_t traced = 0;
  uint32_t period = 0;

  struct Place {
    bool traced = false;
    uint64_t next_change = 0;  // the first step to which this no longer applies
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

  // The first step after the limit.
  [[nodiscard]] uint64_t end(uint64_t armed_at) const {
    return steps > 0 ? armed_at + steps + 1 : kNeverAgain;
  }
};

// A window opens if the cost of all windows, assuming that this one costs their mean, is within the
// budget. Everything before the first step (start, warm-up, prefill) was traced in full and is not
// counted.
class OverheadBudget {
 public:
  static constexpr uint64_t kWindowSteps = 8;

  explicit constexpr OverheadBudget(double share = 0) : share_(share) {}

  [[nodiscard]] bool is_set() const { return share_ > 0; }
  [[nodiscard]] bool has_begun() const { return windows_ > 0; }

  // At the first step, which opens the first window. `before`: what tracing has cost the program so
  // far, ns: launches, kernels, attaching and detaching.
  void begin(int64_t now, int64_t before) {
    windows_ = 1;
    since_ = now;
    before_ = before;
  }

  // Whether the next window may open now. If so, it is counted.
  bool allows_window(int64_t now, int64_t so_far) {
    const auto spent = static_cast<double>(so_far - before_);
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
  int64_t before_ = 0;
};

// Where the windows of a budget may open in a rank of a distributed job: at every `spacing`-th
// step, so that ranks open them at the same steps. A rank that cannot afford a window doubles its
// spacing, so that its windows stay among those that the others may open. Counts from 1; without a
// job, every step.
class SharedWindows {
 public:
  explicit constexpr SharedWindows(uint64_t spacing = 1) : spacing_(spacing) {}

  [[nodiscard]] bool may_open(uint64_t step) const { return (step - 1) % spacing_ == 0; }
  // The first later step at which a window may open.
  [[nodiscard]] uint64_t next(uint64_t step) const {
    return step + spacing_ - (step - 1) % spacing_;
  }
  void widen() {
    if (spacing_ > 1 && spacing_ < kWidest) spacing_ *= 2;
  }

 private:
  static constexpr uint64_t kWidest = 1UL << 40U;

  uint64_t spacing_;
};

// A budget's window in a program that has annotated no step: a slice of time that starts with its
// first launch, so that idle time and earlier launches do not use it up. Times in ns.
class TimeWindow {
 public:
  // Tracing graphs of tiny kernels adds 60 % to the program's time: 3/8 of the window. The estimate
  // is for the worst program, so that the budget holds for all.
  static constexpr double kAddedShare = 0.375;

  // `last_launch`: the number of the latest launch so far; `of_kernels`: upper bound of the cost of
  // all kernels recorded so far.
  void open(int64_t now, uint64_t last_launch, int64_t of_kernels) {
    opened_ = now;
    last_launch_ = last_launch;
    of_kernels_ = of_kernels;
    first_launch_ = 0;
    stopped_ = 0;
  }

  // Whether its time is over.
  [[nodiscard]] bool is_over(int64_t now, uint64_t last_launch) {
    if (first_launch_ == 0) {
      if (last_launch == last_launch_) return false;
      first_launch_ = now;
    }
    if (now - first_launch_ < kLength) return false;
    stopped_ = now;
    last_launch_ = last_launch;
    return true;
  }

  // CUPTI was detached: adds the window's cost beyond attaching and detaching. While tracing, that
  // is at most the cost of its kernels: a program that launches little (it loads, it compiles) is
  // hardly slowed down. After that, time counts only if something was launched.
  void close(int64_t now, uint64_t last_launch, int64_t of_kernels) {
    if (opened_ != 0 && first_launch_ != 0) {
      const int64_t stopped = stopped_ != 0 ? stopped_ : now;
      cost_ += std::min(share_of(stopped - first_launch_), of_kernels - of_kernels_);
      if (last_launch != last_launch_) cost_ += share_of(now - stopped);
    }
    opened_ = 0;
  }
  [[nodiscard]] bool is_open() const { return opened_ != 0; }
  // Total over all windows so far.
  [[nodiscard]] int64_t cost() const { return cost_; }

 private:
  static constexpr int64_t kLength = 50'000'000;

  static int64_t share_of(int64_t time) {
    return static_cast<int64_t>(kAddedShare * static_cast<double>(time));
  }

  int64_t opened_ = 0;        // 0: not open
  int64_t stopped_ = 0;       // when its time was over; 0: not yet
  uint64_t last_launch_ = 0;  // when it was opened, then when it was stopped
  int64_t of_kernels_ = 0;    // when it was opened
  int64_t first_launch_ = 0;  // when its first launch was noticed; 0: none yet
  int64_t cost_ = 0;
};

// Waits for the work that was launched while tracing, before CUPTI is detached. Meanwhile CUPTI
// keeps recording, but later launches are not kept. If its records were switched off instead, a
// graph replayed then would fail at its first replay after cuptiFinalize (CUPTI 13.0,
// docs/collector.md). Times in ns; one thread at a time.
class Draining {
 public:
  // `last_launch`: its call number (CallNumbers).
  void begin(int64_t now, uint64_t last_launch, wire::TracingReason reason) {
    since_ = now;
    last_launch_ = last_launch;
    last_launch_seen_ = 0;
    reason_ = reason;
  }

  // `last_finished`: the latest call whose kernel was recorded.
  [[nodiscard]] bool is_complete(int64_t now, uint64_t last_finished) {
    const bool seen = last_finished >= last_launch_;
    if (seen && last_launch_seen_ == 0) last_launch_seen_ = now;
    return (seen && now - last_launch_seen_ >= kStragglers) || now - since_ >= kLongestWait;
  }

  // CUPTI is best detached at the end of one of the program's CUDA calls. A program that makes none
  // for this long is not inside CUDA, and any moment is as good.
  [[nodiscard]] bool is_overdue(int64_t now) const { return now - since_ >= kPatience; }

  [[nodiscard]] wire::TracingReason reason() const { return reason_; }

 private:
  // Kernels launched while tracing that have not ended by then are given up.
  static constexpr int64_t kLongestWait = 2'000'000'000;
  // Extra time for work on other streams that was launched before the last kernel. Work that has
  // not ended by then is counted as dropped.
  static constexpr int64_t kStragglers = 10'000'000;
  static constexpr int64_t kPatience = 500'000'000;

  int64_t since_ = 0;
  uint64_t last_launch_ = 0;
  int64_t last_launch_seen_ = 0;  // 0: not yet
  wire::TracingReason reason_ = wire::TracingReason::none;
};

}  // namespace llmprof::collector
