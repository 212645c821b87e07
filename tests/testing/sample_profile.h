#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"

namespace llmprof::testing {

// Profiles made by hand, for tests of what is told about them. Every figure is consistent with the
// others as an analysis would leave it, and follows from the few times named here.

// Three requests of a small dense model on an H200, the first a warm-up: a prefill (6 ms, 2
// kernels) and a decode of four steps (8 ms, then 10 ms), with everything an analysis can find.
profile::Profile full_sample();

// The same with what the program's own clock says of its stages without profiling.
profile::Profile controlled_sample();

// The first with the GPU's counters, where the collector traced 4 of every 16 steps of decode.
profile::Profile duty_sample();

// The same kernels as ncu alone knows them: no timeline, no stages, no operators, no model.
profile::Profile profiler_sample();

// An engine under continuous batching: steps of all kinds, decode by batch.
profile::Profile serving_sample();

// Statistics of times in milliseconds.
profile::Statistics<profile::Milliseconds> times(std::vector<double> milliseconds);

struct PartTime {
  std::string part;
  double milliseconds = 0;  // over all measured instances
  bool idle = false;
};
// Gives a stage this budget, and the idle time that follows from it. The parts must sum to the
// wall time of all its measured instances.
void set_budget(profile::Stage& stage, const std::vector<PartTime>& parts);

}  // namespace llmprof::testing
