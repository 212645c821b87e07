#pragma once

#include <memory>

#include "analysis/profile.h"

namespace llmprof::report {

// A profile made by hand, for tests of what is told about it. The trace holds names and devices
// only.
struct SampleProfile {
  std::unique_ptr<trace::Trace> trace;
  analysis::Profile profile;
};

// Three requests of a small dense model on an H200, the first a warm-up: a prefill (6 ms, 2
// kernels) and a decode of four steps (8 ms, then 10 ms), with everything an analysis can find.
SampleProfile full_sample();

// The same with the GPU's counters, where our collector traced 4 of every 16 steps of decode.
SampleProfile duty_sample();

// The same kernels as ncu alone knows them: no timeline, no stages, no operators, no model.
SampleProfile profiler_sample();

// An engine under continuous batching: steps of all kinds, decode by batch.
SampleProfile serving_sample();

}  // namespace llmprof::report
