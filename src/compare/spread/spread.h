#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/model/sides.h"
#include "compare/model/words.h"
#include "profile/quantity.h"

namespace llmprof::compare {

// How far runs of one program differ in a quantity of a stage; times in ms.
struct Spread {
  std::string stage;
  std::string quantity;  // as Comparison::quantity: step, step_busy; wall, busy
  Times times = Times::recorded;
  std::vector<double> values;  // one mean per run
  double mean = 0;
  double deviation = 0;  // standard deviation of the runs; 0 of one
  double low = 0;
  double high = 0;
  // The relative change that as many runs per side would show with probability 0.8, beyond the
  // threshold; none of a single run.
  std::optional<profile::Share> smallest_seen;
};

// Of stages that every run has: the wall time, per step where they have steps and without profiling
// where that is known, and how long the device was busy. Like steps only, as comparisons count
// them.
std::vector<Spread> find_spread(std::span<const Run> runs, double threshold);

}  // namespace llmprof::compare
