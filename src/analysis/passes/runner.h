#pragma once

#include <string>
#include <vector>

#include "analysis/passes/pass.h"
#include "base/progress.h"

namespace llmprof::analysis {

struct PassTiming {
  std::string name;
  Nanoseconds time = 0;
  std::string skipped;  // why; empty where it ran
};

struct PassRun {
  PassValues values;
  Diagnostics diagnostics;  // the preparation's, then each pass's in the order of the table
  std::vector<PassTiming> timings;
};

// Runs each pass as soon as what it needs is there; those that do not need each other run at the
// same time where there are cores. What it gives does not depend on how many.
// `progress` is told of each pass; null where nobody waits.
PassRun run_passes(const std::vector<Pass>& passes, const Prepared& prepared,
                   Progress* progress = nullptr);

}  // namespace llmprof::analysis
