#pragma once

#include <cstdint>

namespace llmprof {

// Time is counted in whole nanoseconds, on the clock of its capture.
using Nanoseconds = int64_t;

inline constexpr double kNanosecondsPerMicrosecond = 1e3;
inline constexpr double kNanosecondsPerMillisecond = 1e6;
inline constexpr double kNanosecondsPerSecond = 1e9;

}  // namespace llmprof
