#pragma once

#include <cstdint>

#include "trace/tables.h"

// What decides which pass a pass is, whether it is like another, and whether it is a normal one:
// the limits of detection, warm-up, times without tracing and batches of a server. Where a capture
// measures something itself (its own sizes, tails, preparations, spreads), no limit stands here.
//
// They were set on the captures of `tuning` in tests/data/h200-detection/labels.json, with those of
// tests/data/h200-runs where times without tracing are concerned, and are tested on those of
// `held_out` (bench/detection/calibrate.py, tests/end_to_end/test_detected_models.py). What else a
// limit was set on stands beside it.
namespace llmprof::analysis::threshold {

// ---- how many are no chance
inline constexpr uint32_t kSeveral = 3;      // repeats, turns, steps, signs
inline constexpr uint32_t kFew = 4;          // layers of a model, passes of a batch
inline constexpr uint32_t kMany = 8;         // steps, kernels, launches
inline constexpr uint32_t kManyLayers = 16;  // that repeat only together; launches between passes
inline constexpr uint32_t kLongRun = 64;     // kernels, launches: a longer preparation is a set-up

// ---- how often something may be otherwise: once in so many
inline constexpr uint32_t kSeldom = 10;
inline constexpr uint32_t kHardlyEver = 100;  // backward kernels in inference

// ---- shares of a whole
inline constexpr double kMeasurable = 0.01;  // of the times of instances that agree
inline constexpr double kSmallPart = 0.05;   // two that differ by less are as good
inline constexpr double kTolerance = 0.1;    // two that differ by less are about equal
inline constexpr double kMuch = 0.4;
inline constexpr double kMost = 0.5;
inline constexpr double kNearlyAll = 0.8;
inline constexpr double kAlmostAll = 0.9;
inline constexpr double kAllButAFew = 0.98;  // kernels of an instance, layers in passes
inline constexpr uint32_t kQuarter = 4;      // one in four: what the edge of something may lack

// ---- how many times as much
inline constexpr double kClearlyLonger = 1.2;  // of instances of the same work
inline constexpr uint32_t kClearlyMore = 2;    // no decode step grows so fast with its context
inline constexpr uint32_t kFarMore = 5;        // spreads, passes, steps of any kind
inline constexpr uint32_t kPaused = 10;        // passes, steps
// Steps behind a pass, times how much smaller they are: without any sign of tokens, less than this
// also occurs where batches change (those of diffusion models are halved for some of 50 steps).
inline constexpr double kClearlyDecode = 100;

// ---- kernels in a row
inline constexpr uint32_t kSmallLoop = 6;  // fewer are no layer; twice as many may be within one

// ---- what takes a time of its own
// Work this near to a pass is its own: servers move caches between requests (llama.cpp's server).
inline constexpr Nanoseconds kNear = 2'000'000;
// Kernels that were asked for this long before the next one do not prepare the pass.
inline constexpr Nanoseconds kBreak = 10'000'000;
// A host that asked for a result and waits for it does so at once; one that goes on with the next
// pass of the batch prepares that first (0.03 and 0.18 ms at the nearest, llama.cpp on an H200).
inline constexpr Nanoseconds kAtOnce = 100'000;
// Waits that follow each other so closely belong together; likewise.
inline constexpr Nanoseconds kSoon = 500'000;
// Waits right before another call are that call's; likewise.
inline constexpr Nanoseconds kDirectly = 20'000;

// ---- times without tracing (tests/data/h200-runs)
// A time that is further from the traced one is not that of the same work: tracing never made a
// program faster, and runs of one program differ.
inline constexpr double kShortestUntraced = 0.1;
inline constexpr double kLongestUntraced = 1.25;
// Small kernels of a graph are recorded longer than they are (0.23 us each in gpt-fast's, compiled,
// on an H200). ns, at the most.
inline constexpr double kAddedToAKernel = 500;
inline constexpr uint32_t kSettlingPasses = 2;  // after CUPTI was detached
// A wait that is so many times shorter than what the host did since the last launch was for
// nothing: the GPU had ended long before.
inline constexpr Nanoseconds kLateWait = 50;

}  // namespace llmprof::analysis::threshold
