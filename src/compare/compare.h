#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/gate/gate.h"
#include "compare/model/diff.h"
#include "compare/model/sides.h"

namespace llmprof::compare {

inline constexpr double kDefaultThreshold = 0.01;

struct CompareOptions {
  double threshold = kDefaultThreshold;  // relative
  std::vector<Rule> rules;
  std::string tool_version;
};

// Each side has at least one run. Texts stay empty: report/ writes them.
Diff compare(const Sides& sides, const CompareOptions& options);

// How far runs of one program differ in a quantity of a stage; times in ms.
struct Spread {
  std::string stage;
  ComparedQuantity quantity;  // step, step_busy; wall, busy
  Times times = Times::recorded;
  std::vector<double> values;  // one mean per run
  double mean = 0;
  double deviation = 0;  // standard deviation between runs; 0 for one run
  double low = 0;
  double high = 0;
  // The relative change beyond the threshold that as many runs per side would detect with
  // probability 0.8; none for a single run.
  std::optional<profile::Share> smallest_seen;
};

// For stages that every run has: wall time (per step if there are steps, without profiling if
// known) and device busy time. Only comparable steps count, as in comparisons.
std::vector<Spread> find_spread(std::span<const Run> runs, double threshold);

}  // namespace llmprof::compare
