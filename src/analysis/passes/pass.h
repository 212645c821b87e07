#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/passes/prepare.h"
#include "analysis/passes/results.h"

namespace llmprof::analysis {

// One analysis: fills its own member of Results from the trace and from what the passes that it
// needs have found.
struct Pass {
  std::string_view name;
  std::vector<std::string_view> needs;  // passes, each listed before this one
  // Why it has nothing to do here; empty where it has.
  std::function<std::string(const Prepared&, const Results&)> why_skipped;
  std::function<void(const Prepared&, Results&, Diagnostics&)> run;
  // Frees what it found, when the last pass that needs it is done; for what grows with the trace
  // and only passes read.
  std::function<void(Results&)> release = {};
};

// All passes, in an order that satisfies their needs.
const std::vector<Pass>& all_passes();

}  // namespace llmprof::analysis
