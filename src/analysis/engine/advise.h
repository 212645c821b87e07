#pragma once

#include "analysis/engine/engine_rules.h"
#include "profile/engine.h"
#include "profile/findings.h"

namespace llmprof::analysis {

// Gives findings of GPU work the advice that conf/engines has for their kind and the program's
// engine: no advice that the program already follows, and none for a framework that it does not
// use. "{longest_gap}" stays in it for report/, which writes figures. Findings without such advice
// get theirs from report/.
void advise(const EngineRules& rules, const profile::Engine& engine,
            std::vector<profile::Finding>& findings);

}  // namespace llmprof::analysis
