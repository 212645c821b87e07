#pragma once

#include <cstdint>

#include "trace/tables.h"

// What decides which pass a pass is, whether it is like another, and whether it is a normal one:
// the limits of detection, warm-up, times without tracing and batches of a server. Where a capture
// measures something itself (its own sizes, tails, preparations, spreads), no limit stands here.
//
// Each says what it separates, and in brackets on which captures it was set: `tuning`, the half of
// tests/data/h200-detection/labels.json of that name, with those of it that show what is meant;
// `runs`, tests/data/h200-runs and h200-unwatched; `llama.cpp`, its server on an H200. None was set
// on the other half of labels.json, `held_out`, which tests them (bench/detection/calibrate.py,
// tests/end_to_end/test_detected_models.py).
namespace llmprof::analysis::threshold {

// ---- how many are no chance
// Repeats of a layer, turns of two models, steps behind a prefill, signs of an LLM, kernels of one
// attention [tuning: assistant takes turns].
inline constexpr uint32_t kSeveral = 3;
// Layers of a model, kernels of a layer [tuning: the smallest models have 5]. Passes that a server
// splits a batch into [llama.cpp].
inline constexpr uint32_t kFew = 4;
// Steps that show what is usual, launches that are a pass without a graph, kernels behind the last
// token that are still its results [tuning, runs].
inline constexpr uint32_t kMany = 8;
// Layers that repeat only together [tuning: gemma]. Launches between two passes of a run [runs].
inline constexpr uint32_t kManyLayers = 16;
// A longer preparation of a pass is the program's set-up [tuning]. A pass of so many launches may
// begin with what ends the one before [runs].
inline constexpr uint32_t kLongRun = 64;

// ---- how often something may be otherwise: once in so many
// Distances of layers and of markers, graphs that follow each other [tuning].
inline constexpr uint32_t kSeldom = 10;
// Backward kernels in inference [tuning: h_train]. Other kernels in a pass that a window of tracing
// cut [runs].
inline constexpr uint32_t kHardlyEver = 100;

// ---- shares of a whole
// Of the times of instances that agree: a first one that is longer differs from them [runs].
inline constexpr double kMeasurable = 0.01;
// Two periods, or two candidates for the passes, that differ by less are as good; a model of its
// own has as much of all kernels [tuning].
inline constexpr double kSmallPart = 0.05;
// Distances in a repeat, coverage of two periods [tuning], busy and wall time [runs]: those that
// differ by less are about equal.
inline constexpr double kTolerance = 0.1;
// What layers fill of a loop's period, a model's layer has of another's, stretches follow each
// other: at least [tuning].
inline constexpr double kMuch = 0.4;
// What repeats of a pass, two passes of a model have in common [tuning], two runs have of their
// passes [runs]: at least.
inline constexpr double kMost = 0.5;
// Of a repeat, what is as one period before; of an annotated instance, what is in passes [tuning].
inline constexpr double kNearlyAll = 0.8;
// Of the recorded passes, those that the control run has; of the time until the next launch, what
// the GPU needs if that launch tells the end [runs].
inline constexpr double kAlmostAll = 0.9;
// Of the layers, those in passes at high confidence [tuning]. Of the kernels of an instance, those
// of a whole one [runs].
inline constexpr double kAllButAFew = 0.98;
// One in four: what the edge of a stretch, a layer or a pass may lack [tuning], what a first step
// of an engine may wait, what may be its warm-up [llama.cpp].
inline constexpr uint32_t kQuarter = 4;

// ---- how many times as much
// An instance that differs from others of the same work [runs].
inline constexpr double kClearlyLonger = 1.2;
// A prefill over a decode step, which never grows so fast with its context; the product with a
// vocabulary over those of the layers; a cold pass over a warm one [tuning, runs].
inline constexpr uint32_t kClearlyMore = 2;
// Spreads, passes, steps of any kind: a pause, a compilation [runs].
inline constexpr uint32_t kFarMore = 5;
// Passes, steps: a wait for the next request [llama.cpp, runs].
inline constexpr uint32_t kPaused = 10;
// Steps behind a pass, times how much smaller they are: without any sign of tokens, less than this
// also occurs where batches change (those of diffusion models are halved for some of 50 steps)
// [tuning: dit, unet].
inline constexpr double kClearlyDecode = 100;

// ---- kernels in a row
// Fewer are no layer but a scan over tokens or part of a sampler; twice as many may be a loop
// within one. As many may stand between a softmax and a product [tuning: mamba, sample].
inline constexpr uint32_t kSmallLoop = 6;

// ---- what takes a time of its own
// Work this near to a pass is its own: servers move caches between requests [llama.cpp].
inline constexpr Nanoseconds kNear = 2'000'000;
// Kernels that were asked for this long before the next one do not prepare the pass [tuning].
inline constexpr Nanoseconds kBreak = 10'000'000;
// A host that asked for a result and waits for it does so at once; one that goes on with the next
// pass of the batch prepares that first (0.03 and 0.18 ms at the nearest) [llama.cpp].
inline constexpr Nanoseconds kAtOnce = 100'000;
// Waits that follow each other so closely belong together [llama.cpp].
inline constexpr Nanoseconds kSoon = 500'000;
// Waits right before another call are that call's [llama.cpp].
inline constexpr Nanoseconds kDirectly = 20'000;

// ---- times without tracing
// A time that is further from the traced one is not that of the same work: tracing never made a
// program faster, and runs of one program differ [runs].
inline constexpr double kShortestUntraced = 0.1;
inline constexpr double kLongestUntraced = 1.25;
// Small kernels of a graph are recorded longer than they are (0.23 us each in gpt-fast's, compiled,
// on an H200) [runs of it]. ns, at the most.
inline constexpr double kAddedToAKernel = 500;
// Passes after CUPTI was detached [runs].
inline constexpr uint32_t kSettlingPasses = 2;
// A wait that is so many times shorter than what the host did since the last launch was for
// nothing: the GPU had ended long before [runs].
inline constexpr Nanoseconds kLateWait = 50;

}  // namespace llmprof::analysis::threshold
