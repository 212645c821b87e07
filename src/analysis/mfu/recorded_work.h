#pragma once

#include <optional>
#include <vector>

#include "analysis/naming/described_names.h"
#include "analysis/stages/stages.h"
#include "llm/cost.h"
#include "profile/reasons.h"

namespace llmprof::analysis {

// What one instance of a stage computed and moved as the program recorded it with its operators:
// the mean over those that are no warm-up. One part per kernel class; attention's bytes are its
// cache.
struct RecordedWork {
  llm::PassCost cost;
  profile::Reasons basis;  // of how many operators
};

// One entry per stage; all empty where no operator has FLOPs or bytes.
std::vector<std::optional<RecordedWork>> recorded_work(const trace::Trace& trace,
                                                       const Stages& stages,
                                                       const DescribedNames& names);

}  // namespace llmprof::analysis
