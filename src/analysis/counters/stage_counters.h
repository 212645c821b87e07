#pragma once

#include <optional>
#include <vector>

#include "analysis/counters/counter_series.h"
#include "analysis/mfu/utilization.h"
#include "analysis/stages/stages.h"
#include "profile/measured.h"

namespace llmprof::analysis {

// Values from the GPU's own counters and sensors, assigned by time: everything that the GPU did in
// the instances' windows counts, including other programs' work.
struct Counters {
  // One per stage, over its instances that are not warm-up. Empty if nothing was sampled; none if
  // no instance ran on a device with samples.
  std::vector<std::optional<profile::Measured>> stages;
  // DRAM bytes of each step, by time: one per step; empty without samples.
  std::vector<std::optional<double>> step_bytes;
  // Whether heat, power or hardware lowered the clocks, one per step and per instance; none if no
  // sensor was read in or shortly before it. Empty without samples.
  std::vector<std::optional<bool>> step_slowed;
  std::vector<std::optional<bool>> instance_slowed;
};

Counters attribute_counters(const trace::Trace& trace, const Stages& stages, const UseOfPeaks& use);

}  // namespace llmprof::analysis
