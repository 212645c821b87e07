#pragma once

#include <string_view>

#include "analysis/engine/engine_rules.h"
#include "analysis/ranking/kernels.h"
#include "analysis/stages/stages.h"
#include "profile/engine.h"
#include "profile/findings.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// What runs the model, and how. `command` is the command of a run folder. `operators_of` has the
// operators: the trace itself or another capture of the program. Considers only measured stages if
// there are any.
profile::Engine find_engine(const EngineRules& rules, const trace::Trace& trace,
                            const trace::Trace& operators_of, const KernelRanking& ranking,
                            const Stages& stages, std::string_view command);

// Gives findings about GPU work that have none the advice that conf/engines has for their kind and
// the program's engine: none that the program already follows, and none for a framework that it
// does not use.
// "{longest_gap}" remains in the text, because report/ formats figures. Findings without such
// advice get theirs from report/.
void advise(const EngineRules& rules, const profile::Engine& engine,
            std::vector<profile::Finding>& findings);

}  // namespace llmprof::analysis
