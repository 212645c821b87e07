#pragma once

#include <cstdint>

namespace llmprof {

// Times are whole nanoseconds on their capture's clock.
using Nanoseconds = int64_t;

inline constexpr double kNanosecondsPerMicrosecond = 1e3;
inline constexpr double kNanosecondsPerMillisecond = 1e6;
inline constexpr double kNanosecondsPerSecond = 1e9;
inline constexpr double kMillisecondsPerSecond = 1e3;

inline constexpr double kPercent = 100;

inline constexpr double kMega = 1e6;  // megahertz, megabytes
inline constexpr double kGiga = 1e9;
inline constexpr double kTera = 1e12;

}  // namespace llmprof
