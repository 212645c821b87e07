#pragma once

#include <cstdint>

#include "trace/tables.h"

// Limits of detection, warm-up, times without tracing and server batches: they decide which kind a
// pass is, whether it resembles another, and whether it is normal. If a capture measures a quantity
// itself (its own sizes, tails, preparations, spreads), there is no limit here.
//
// Each comment says what the limit separates and, in brackets, on which captures it was set:
// `tuning`, the half of tests/data/h200-detection/labels.json of that name, with the captures that
// show it; `runs`, tests/data/h200-runs and h200-untraced; `llama.cpp`, its server on an H200.
// None was set on the other half of labels.json, `held_out`, which tests them
// (bench/detection/calibrate.py, tests/end_to_end/test_detected_models.py).
namespace llmprof::analysis::threshold {

// ---- how many are not a coincidence
// Repeats of a layer, turns of two models, steps after a prefill, signs of an LLM, kernels of one
// attention [tuning: assistant alternates].
inline constexpr uint32_t kSeveral = 3;
// Layers of a model, kernels of a layer [tuning: the smallest models have 5]. Passes that a server
// splits a batch into [llama.cpp].
inline constexpr uint32_t kFew = 4;
// Steps that show what is usual, launches that make a pass without a graph, kernels after the last
// token that still belong to its results [tuning, runs].
inline constexpr uint32_t kMany = 8;
// Layers that repeat only together [tuning: gemma]. Launches between two passes of a run [runs].
inline constexpr uint32_t kManyLayers = 16;
// A longer preparation of a pass is the program's setup [tuning]. A pass of so many launches may
// start with the end of the previous one [runs].
inline constexpr uint32_t kLongRun = 64;

// ---- how often there may be an exception: once in so many
// Distances of layers and of markers, graphs that follow each other [tuning].
inline constexpr uint32_t kSeldom = 10;
// Backward kernels in inference [tuning: h_train]. Other kernels in a pass that a tracing window
// cut [runs].
inline constexpr uint32_t kHardlyEver = 100;

// ---- shares of a whole
// Relative to the times of instances that agree: a first one that is longer differs from them
// [runs].
inline constexpr double kMeasurable = 0.01;
// Two periods, or two candidates for the passes, that differ by less are equally good; a separate
// model has at least this share of all kernels [tuning].
inline constexpr double kSmallPart = 0.05;
// Distances in a repeat, coverage of two periods [tuning], busy and wall time [runs] are about
// equal if they differ by less.
inline constexpr double kTolerance = 0.1;
// Minimum share of a loop's period that layers fill, of stretches that follow each other, and of
// the usual layer length that a layer of the model has [tuning].
inline constexpr double kMuch = 0.4;
// Minimum share of a pass that repeats, that two passes of a model have in common [tuning], or that
// two runs share of their passes [runs].
inline constexpr double kMost = 0.5;
// Share of a repeat that equals the previous one; share of an annotated instance that is in passes
// [tuning].
inline constexpr double kNearlyAll = 0.8;
// Share of the recorded passes that the control run has; share of the time until the next launch
// that the GPU needs if that launch shows the end [runs]. Share of later instances that a warm-up
// exceeds [tuning, llama.cpp].
inline constexpr double kAlmostAll = 0.9;
// Share of layers in passes at high confidence [tuning]. Share of kernels that makes an instance
// complete [runs].
inline constexpr double kAllButAFew = 0.98;
// One in four: what the edge of a stretch, a layer or a pass may lack [tuning], what an engine's
// first step may wait, how many of its steps may be warm-up [llama.cpp].
inline constexpr uint32_t kQuarter = 4;

// ---- ratios
// An instance that differs from others of the same work [runs].
inline constexpr double kClearlyLonger = 1.2;
// A prefill to a decode step, which never grows so fast with its context; the vocabulary GEMM to
// the layers' GEMMs; a cold pass to a warm one [tuning, runs].
inline constexpr uint32_t kClearlyMore = 2;
// Relative to spreads, passes, steps of any kind: a pause, a compilation [runs].
inline constexpr uint32_t kFarMore = 5;
// Relative to passes, steps: a wait for the next request [llama.cpp, runs].
inline constexpr uint32_t kPaused = 10;
// Number of steps after a pass, times how much smaller they are. Without any sign of tokens, lower
// values also occur when batches change (diffusion models halve theirs for some of 50 steps)
// [tuning: dit, unet].
inline constexpr double kClearlyDecode = 100;

// ---- kernels in a row
// Fewer are not a layer but a scan over tokens or part of a sampler. As many may be between a
// softmax and a GEMM [tuning: mamba, sample].
inline constexpr uint32_t kSmallLoop = 6;

// ---- durations
// Work this close to a pass belongs to it: servers move caches between requests [llama.cpp].
inline constexpr Nanoseconds kNear = 2'000'000;
// Kernels launched this long before the next one do not prepare the pass [tuning].
inline constexpr Nanoseconds kBreak = 10'000'000;
// A host that waits for a requested result does so at once; one that continues with the batch's
// next pass prepares that first (0.03 and 0.18 ms in the closest cases) [llama.cpp].
inline constexpr Nanoseconds kAtOnce = 100'000;
// Waits this close to each other belong together [llama.cpp].
inline constexpr Nanoseconds kSoon = 500'000;
// Waits right before another call belong to that call [llama.cpp].
inline constexpr Nanoseconds kDirectly = 20'000;

// ---- times without tracing
// A time outside these ratios to the traced time means other work: tracing never makes a program
// faster, and runs of one program differ [runs].
inline constexpr double kShortestUntraced = 0.1;
inline constexpr double kLongestUntraced = 1.25;
// Recorded times of small kernels in a graph are too long (by 0.23 us each in compiled gpt-fast on
// an H200) [its runs]. Upper limit, in ns.
inline constexpr double kAddedToAKernel = 500;
// Passes to skip after CUPTI was detached [runs].
inline constexpr uint32_t kSettlingPasses = 2;
// If a wait is this many times shorter than the host's work since the last launch, the GPU had
// already finished long before [runs].
inline constexpr Nanoseconds kLateWait = 50;

}  // namespace llmprof::analysis::threshold
