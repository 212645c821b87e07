#pragma once

#include <vector>

#include "analysis/communication/collectives.h"
#include "analysis/layers/layers.h"
#include "analysis/ranking/kernels.h"
#include "analysis/stages/stages.h"
#include "analysis/timeline/timeline.h"

namespace llmprof::analysis {

// Results that refer to rows of the trace, for callers that query it further. Everything else is in
// the profile.
struct Results {
  Stages stages;
  KernelRanking ranking;
  std::vector<OpenedKernel> opened;  // one per row of the ranking
  Layers layers;
  IdleBefore idle_before;
  Collectives collectives;
};

}  // namespace llmprof::analysis
