#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/tables.h"

// Limits of detection, warm-up, times without tracing and server batches: they decide which kind a
// pass is, whether it resembles another, and whether it is normal. If a capture measures a quantity
// itself (its own sizes, tails, preparations, spreads), there is no limit here.
//
// Each comment says what the limit separates and, in brackets, on which captures it was set: groups
// of tests/data/h200-detection/labels.json, whose captures have the split `tuning`, with the
// captures that show it. None was set on captures of the other split, `held_out`, which test them
// (bench/detection/calibrate.py, tests/end_to_end/test_detected_models.py).
namespace llmprof::analysis::threshold {

// ---- how many are not a coincidence
// Passes, steps after a prefill, turns of two models, returns of a marker, kernels in common, signs
// of an LLM, tracing windows [tuning: assistant] [runs].
inline constexpr uint32_t kSeveral = 3;
// Repeats of a layer [tuning].
inline constexpr uint32_t kRepeats = 3;
// Steps that show what is usual [tuning].
inline constexpr uint32_t kMany = 8;

// ---- sizes, in kernels, layers, passes, launches
// Kernels from one kernel of an attention to its next [tuning].
inline constexpr uint32_t kOneAttention = 3;
// Kernels of a layer, and layers of a model; the smallest models have 5 [tuning: gemma_small].
inline constexpr uint32_t kFewestKernels = 4;
inline constexpr uint32_t kFewestLayers = 4;
// Fewer kernels are not a layer but a scan over tokens or part of a sampler. As many may be between
// a softmax and a GEMM [tuning: mamba, sample].
inline constexpr uint32_t kSmallLoop = 6;
// A layer has at least a norm and a GEMM before its attention (its lead) [tuning: gemma].
inline constexpr size_t kShortestLead = 2;
// Layers that repeat only together [tuning: gemma].
inline constexpr uint32_t kLayersTogether = 16;
// Kernels after the last token that still belong to its results [tuning].
inline constexpr uint32_t kResultKernels = 8;
// Kernels: a longer preparation of a pass is the program's setup [tuning].
inline constexpr uint32_t kLongPreparation = 64;
// Passes that a server splits a batch into [llama.cpp].
inline constexpr uint32_t kPassesOfBatch = 4;
// Steps that a program generates to warm up [llama.cpp].
inline constexpr uint32_t kLeadingSteps = 2;
// A burst: up to so many kernels, at least so many times in a row (autotuning, filling weights)
// [tuning: jax].
inline constexpr uint32_t kBurstPeriod = 3;
inline constexpr size_t kBurstRepeats = 32;
// Launches that make a pass without a graph, or of which one ends the previous pass [runs].
inline constexpr uint32_t kFewestLaunches = 8;
// A pass of so many launches may start with the end of the previous one [runs].
inline constexpr uint32_t kLongPass = 64;
// Launches between two passes of a run [runs].
inline constexpr uint32_t kBetweenPasses = 16;
// Launches between two of a function: farther ones are not compared. About a layer [runs].
inline constexpr uint32_t kFarthestLaunch = 48;
// A thread with this many times fewer launches than the busiest one runs no passes [runs].
inline constexpr uint64_t kMuchLess = 20;

// ---- how often there may be an exception: once in so many
// Distances of layers and of markers, graphs that follow each other, kernels that one layer has
// more than others [tuning].
inline constexpr uint32_t kSeldom = 10;
// Backward kernels in inference [tuning: h_train]. Other kernels in a pass that a tracing window
// cut [runs].
inline constexpr uint32_t kHardlyEver = 100;

// ---- shares of a whole
// Relative to the times of instances that agree: a first one that is longer differs from them
// [runs].
inline constexpr double kMeasurable = 0.01;
// Two periods, or two candidates for the passes, that differ by less are equally good; a separate
// model has at least this share of all kernels [tuning]. Arming the collector takes less of a
// stage's time [runs].
inline constexpr double kSmallPart = 0.05;
// Distances in a repeat, coverage of two periods [tuning], busy and wall time [runs] are about
// equal if they differ by less.
inline constexpr double kTolerance = 0.1;
// Minimum share of a loop's period that layers fill, of stretches that follow each other, and of
// the usual layer length that a layer of the model has [tuning].
inline constexpr double kMuch = 0.4;
// Minimum share of a pass that repeats or that its layers fill, that two passes of a model have in
// common [tuning], or that two runs share of their passes [runs].
inline constexpr double kMost = 0.5;
constexpr size_t half_of(size_t whole) { return (whole + 1) / 2; }
// Minimum share of each layer that equals the previous one [tuning], of later instances that agree
// on their time [runs].
constexpr size_t two_thirds_of(size_t whole) { return (2 * whole + 2) / 3; }
// Two halves of a period are two layers if this share of the longer one is in the other. A layer
// with two attentions (self and cross) has less in common [tuning: gemma].
inline constexpr double kSameKind = 0.75;
// Share of a repeat that equals the previous one; share of an annotated instance that is in passes
// [tuning].
inline constexpr double kNearlyAll = 0.8;
// Share of the recorded passes that the control run has; share of the time until the next launch
// that the GPU needs if that launch shows the end [runs]. Share of later instances that a warm-up
// exceeds [tuning] [llama.cpp]. Share of a layer's lead that equals another one's, with another
// GEMM variant [tuning: gemma].
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
// A first step to later ones, a preparation to others: a token generated to warm up, a wait for the
// request [llama.cpp] [runs].
inline constexpr uint32_t kWellMore = 3;
// A prefill to a decode step, which never grows so fast with its context; the vocabulary GEMM to
// the layers' GEMMs; a cold pass to a warm one [tuning] [runs].
inline constexpr uint32_t kClearlyMore = 2;
// Relative to spreads, passes, steps of any kind: a pause, a compilation [runs].
inline constexpr uint32_t kFarMore = 5;
// Relative to passes, steps, the choice of a token: a wait for the next request [llama.cpp] [runs].
inline constexpr uint32_t kPaused = 10;
// Number of steps after a pass, times how much smaller they are. Without any sign of tokens, lower
// values also occur when batches change (diffusion models halve theirs for some of 50 steps)
// [tuning: dit, unet].
inline constexpr double kClearlyDecode = 100;

// ---- durations
// Work this close to a pass belongs to it: servers move caches between requests [llama.cpp]. No
// other value gives equal results: 1.5 and 2.5 ms move copies of JAX and llama.cpp, which are at
// all distances from passes. A boundary in a capture's own distances does worse: weights that are
// loaded before the first pass would belong to it.
inline constexpr Nanoseconds kNear = 2'000'000;
// Kernels launched this long before the next one do not prepare the pass [tuning]. 10 to 20 ms give
// equal results on all captures; 7.5 ms cuts a preparation (k_plain_graph), 40 ms adds kernels of
// the setup (h200-dense-graph). The boundary in a capture's own gaps is anywhere from 6 us to 230
// ms, because the host's pauses are one group.
inline constexpr Nanoseconds kBreak = 10'000'000;

// ---- times without tracing
// A time outside these ratios to the traced time means other work: tracing never makes a program
// faster, and runs of one program differ [runs].
inline constexpr double kShortestUntraced = 0.1;
inline constexpr double kLongestUntraced = 1.25;
// Recorded times of small kernels in a graph are too long (by 0.23 us each in compiled gpt-fast on
// an H200) [runs]. Upper limit, in ns.
inline constexpr double kAddedToAKernel = 500;
// Passes to skip after CUPTI was detached [runs].
inline constexpr uint32_t kSettlingPasses = 2;
// If a wait is this many times shorter than the host's work since the last launch, the GPU had
// already finished long before [runs].
inline constexpr Nanoseconds kLateWait = 50;

// ---- effort of searches
// Lengths of passes to search for in a control run [runs].
inline constexpr size_t kMostLengths = 64;
// Ranges to step over before bisecting: no result depends on it.
inline constexpr size_t kNearby = 16;

}  // namespace llmprof::analysis::threshold
