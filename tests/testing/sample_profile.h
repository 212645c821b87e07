#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"

namespace llmprof::testing {

// Hand-made profiles, for tests of reports and pages. All figures are consistent, as an analysis
// would compute them, and follow from the few times named here.

// Three requests of a small dense model on an H200, the first a warm-up: a prefill (6 ms, 2
// kernels) and a decode of four steps (8 ms, then 10 ms), with everything an analysis can find.
profile::Profile full_sample();

// The same, with the program's own times of its stages without profiling.
profile::Profile controlled_sample();

// The first with the GPU's counters; the collector traced 4 of every 16 decode steps.
profile::Profile duty_sample();

// The same kernels as ncu alone sees them: no timeline, no stages, no operators, no model.
profile::Profile profiler_sample();

// An engine with continuous batching: steps of all kinds, decode by batch.
profile::Profile serving_sample();

// The same engine under a client's load, recorded and not: two joined requests, the second delays
// the first, and one that broke off.
profile::Profile requests_sample();

// Statistics of times in milliseconds.
profile::Statistics<profile::Milliseconds> times(std::vector<double> milliseconds);

struct PartTime {
  std::string part;
  double milliseconds = 0;  // over all measured instances
  bool idle = false;
};
// Sets a stage's budget, and the idle time that follows from it. The parts must sum to the
// wall time of all its measured instances.
void set_budget(profile::Stage& stage, const std::vector<PartTime>& parts);

}  // namespace llmprof::testing
