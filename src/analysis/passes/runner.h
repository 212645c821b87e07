#pragma once

#include <string>
#include <vector>

#include "analysis/passes/pass.h"
#include "base/progress.h"

namespace llmprof::analysis {

struct PassTiming {
  std::string name;
  Nanoseconds time = 0;
  std::string skipped;  // why; empty if it ran
};

struct PassRun {
  PassValues values;
  Diagnostics diagnostics;  // from the preparation, then from each pass in table order
  std::vector<PassTiming> timings;
};

// Runs each pass as soon as its inputs are ready; independent passes run concurrently. The result
// does not depend on the number of cores. `progress` is notified of each pass; may be null.
PassRun run_passes(const std::vector<Pass>& passes, const Prepared& prepared,
                   Progress* progress = nullptr);

}  // namespace llmprof::analysis
