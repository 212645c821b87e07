#pragma once

#include <cstdint>

#include "wire/cuda_records.h"

namespace llmprof::collector {

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
