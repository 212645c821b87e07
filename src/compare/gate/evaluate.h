#pragma once

#include <span>
#include <vector>

#include "compare/gate/rule.h"
#include "compare/model/diff.h"
#include "compare/quantities/quantities.h"

namespace llmprof::compare {

// One result per rule and stage that it is about; a rule whose quantity no stage has cannot be
// told.
std::vector<GateResult> evaluate(const Rule& rule, std::span<const StageQuantities> stages);

// "pass", "fail" or "cannot_tell".
std::string verdict_of(std::span<const GateResult> results);

}  // namespace llmprof::compare
