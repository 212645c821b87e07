#pragma once

#include <ctime>

#include <cstdint>

namespace llmprof::collector {

inline int64_t read_clock(clockid_t clock) {
  constexpr int64_t kSecond = 1'000'000'000;
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

// The clock of the log.
inline int64_t now_ns() { return read_clock(CLOCK_MONOTONIC); }

}  // namespace llmprof::collector
