#pragma once

namespace llmprof {

inline constexpr double kNanosecondsPerSecond = 1e9;
inline constexpr double kNanosecondsPerMillisecond = 1e6;
inline constexpr double kNanosecondsPerMicrosecond = 1e3;

}  // namespace llmprof
