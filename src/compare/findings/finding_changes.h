#pragma once

#include <vector>

#include "compare/model/diff.h"
#include "compare/model/sides.h"

namespace llmprof::compare {

// By kind, stage and subject: gone and new ones first, then those that changed by more than
// `threshold` of the base's potential saving, then the rest. A finding of a side is one that at
// least half of its runs have.
std::vector<FindingChange> find_finding_changes(const Sides& sides, double threshold);

}  // namespace llmprof::compare
