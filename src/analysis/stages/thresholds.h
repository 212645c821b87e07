#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/tables.h"

namespace llmprof::analysis::threshold {

inline constexpr uint32_t kSeveral = 3;
inline constexpr uint32_t kFewLayers = 4;
inline constexpr uint32_t kQuarter = 4;
inline constexpr uint32_t kClearlyMore = 2;
inline constexpr uint32_t kSeldom = 10;
inline constexpr uint32_t kHardlyAny = 100;
inline constexpr uint32_t kManySteps = 8;
inline constexpr uint32_t kPaused = 10;
inline constexpr double kMost = 0.5;
inline constexpr double kMuch = 0.4;
inline constexpr double kNearlyAll = 0.8;
inline constexpr double kAboutAsMuch = 0.05;
inline constexpr double kGivenUp = 0.1;
inline constexpr double kUneven = 0.1;
inline constexpr double kLeastAgreement = 0.8;
inline constexpr double kMostKernels = 0.55;
inline constexpr double kLeastShare = 0.05;
inline constexpr double kAlmostAllLayers = 0.98;
inline constexpr double kClearlyDecode = 100;
inline constexpr uint32_t kSmallLoop = 6;
inline constexpr uint32_t kLoopInLayer = 12;
inline constexpr uint32_t kMostLayersTogether = 16;
inline constexpr uint32_t kLongPreparation = 64;
inline constexpr uint32_t kFewKernels = 8;
inline constexpr uint32_t kProductBefore = 6;
inline constexpr uint32_t kProductBehind = 4;
inline constexpr uint32_t kPassesOfABatch = 4;
inline constexpr Nanoseconds kNear = 2'000'000;
inline constexpr Nanoseconds kTogether = 1'000'000;
inline constexpr Nanoseconds kBreak = 10'000'000;
inline constexpr Nanoseconds kBreakBetweenPasses = 100'000'000;

}  // namespace llmprof::analysis::threshold
