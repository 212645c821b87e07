#pragma once

#include <algorithm>
#include <cstdint>

#include "wire/cuda_records.h"

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

// Where the windows of a budget may open in a rank of a distributed job: with every `spacing`-th
// step, so that ranks that open one do it with the same step. What each can afford differs: a rank
// doubles its spacing whenever it cannot afford a window, and its windows are then among those of
// the others. Counts from 1; without a job, every step.
class SharedWindows {
 public:
  explicit constexpr SharedWindows(uint64_t spacing = 1) : spacing_(spacing) {}

  [[nodiscard]] bool may_open(uint64_t step) const { return (step - 1) % spacing_ == 0; }
  // The first step after this one with which a window may open.
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

// The window of a budget in a program that has annotated no step: a slice of time that begins with
// its first launch, so that what was launched before the window opened, or nothing at all, does not
// use it up. Times in ns.
class TimeWindow {
 public:
  // What tracing adds to a program whose graphs are of tiny kernels is 60 % of its time: of the
  // window's 3 in 8. The estimate is for the worst program, so that the budget holds for all.
  static constexpr double kAddedShare = 0.375;

  // `last_launch`: the number of the latest launch so far; `of_kernels`: what all kernels recorded
  // so far have cost at the most.
  void open(int64_t now, uint64_t last_launch, int64_t of_kernels) {
    opened_ = now;
    last_launch_ = last_launch;
    of_kernels_ = of_kernels;
    first_launch_ = 0;
    stopped_ = 0;
  }

  // Whether it has had its time.
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

  // CUPTI was detached: what the window has cost beyond attaching and detaching. While it was
  // traced no more than its kernels can have cost: a program that hardly launched anything (it
  // loads, it compiles) was hardly slowed down. From then on only if something was launched.
  void close(int64_t now, uint64_t last_launch, int64_t of_kernels) {
    if (opened_ != 0 && first_launch_ != 0) {
      const int64_t stopped = stopped_ != 0 ? stopped_ : now;
      cost_ += std::min(share_of(stopped - first_launch_), of_kernels - of_kernels_);
      if (last_launch != last_launch_) cost_ += share_of(now - stopped);
    }
    opened_ = 0;
  }
  [[nodiscard]] bool is_open() const { return opened_ != 0; }
  // Of all windows so far.
  [[nodiscard]] int64_t cost() const { return cost_; }

 private:
  static constexpr int64_t kLength = 50'000'000;

  static int64_t share_of(int64_t time) {
    return static_cast<int64_t>(kAddedShare * static_cast<double>(time));
  }

  int64_t opened_ = 0;        // 0: not open
  int64_t stopped_ = 0;       // when it had had its time; 0: not yet
  uint64_t last_launch_ = 0;  // when it was opened, then when it was stopped
  int64_t of_kernels_ = 0;    // when it was opened
  int64_t first_launch_ = 0;  // when its first launch was noticed; 0: none yet
  int64_t cost_ = 0;
};

// Waiting for the work that was launched while tracing, before CUPTI is left. Meanwhile CUPTI goes
// on recording, and what was launched later is not kept: were its records switched off instead, a
// graph that is replayed then would fail with its first replay after CUPTI was finalized (CUPTI
// 13.0, docs/collector.md). Times in ns; one thread at a time.
class Draining {
 public:
  // `last_launch`: its call's number (CallNumbers).
  void begin(int64_t now, uint64_t last_launch, wire::CollectionReason reason) {
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

  [[nodiscard]] wire::CollectionReason reason() const { return reason_; }

 private:
  // Kernels launched while tracing that have not ended by then are given up.
  static constexpr int64_t kLongestWait = 2'000'000'000;
  // Extra time for work on other streams that was launched before the last kernel. What has not
  // ended by then is counted as dropped.
  static constexpr int64_t kStragglers = 10'000'000;
  static constexpr int64_t kPatience = 500'000'000;

  int64_t since_ = 0;
  uint64_t last_launch_ = 0;
  int64_t last_launch_seen_ = 0;  // 0: not yet
  wire::CollectionReason reason_ = wire::CollectionReason::none;
};

}  // namespace llmprof::collector
