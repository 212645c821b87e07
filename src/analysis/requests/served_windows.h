#pragma once

#include <vector>

#include "analysis/stages/stages.h"
#include "profile/token_times.h"

namespace llmprof::analysis {

// Estimated times that a serving engine's requests saw in recording windows; the requests
// themselves are unknown.
//
// From batches: passes that give every sequence one token; the host waits for the last pass. Token
// time is the time between two batches, including cache transfers. Prompt time starts when the host
// could first work on the prompt (previous batch's tokens chosen, caches moved) and ends when its
// first token is chosen.
//
// One window per `arm` command or armed range; otherwise one for the whole recording. A window is
// skipped if its passes do not show which sequences get a token.
std::vector<profile::ServedWindow> served_windows(const trace::Trace& trace, const Stages& stages);

}  // namespace llmprof::analysis
