#pragma once

#include <optional>
#include <vector>

#include "analysis/counters/counter_series.h"
#include "analysis/mfu/utilization.h"
#include "analysis/stages/stages.h"
#include "profile/measured.h"

namespace llmprof::analysis {

// What the GPU's own counters and sensors say, by time: all that the GPU did in the instances'
// windows counts, whoever did it.
struct Counters {
  // One per stage, of its instances that are not warm-up; empty where nothing was sampled, none
  // where no instance ran on a device with samples.
  std::vector<std::optional<profile::Measured>> stages;
  // DRAM bytes of each step, by time: one per step; empty without samples.
  std::vector<std::optional<double>> step_bytes;
  // Whether heat, power or hardware lowered the clocks, one per step and per instance; none where
  // no sensor was read shortly before. Empty without samples.
  std::vector<std::optional<bool>> step_slowed;
  std::vector<std::optional<bool>> instance_slowed;
};

Counters attribute_counters(const trace::Trace& trace, const Stages& stages,
                            const Utilization& use);

}  // namespace llmprof::analysis
