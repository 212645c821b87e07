#pragma once

#include <vector>

#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// Estimated times that a serving engine's requests saw in one recording window, from its batches;
// the requests themselves are unknown. Mean times in ns.
struct ServedWindow {
  Nanoseconds start = 0;  // start of its first pass
  Nanoseconds end = 0;    // when the host had chosen the last token
  uint64_t batches = 0;
  uint64_t passes = 0;
  uint64_t rows = 0;  // tokens given to sequences
  uint64_t most_rows = 0;
  uint64_t prompts = 0;    // first tokens
  double prompt_time = 0;  // 0 without prompts
  uint64_t tokens = 0;     // tokens after a sequence's first
  double token_time = 0;   // 0 without tokens
};

// From batches: passes that give every sequence one token; the host waits for the last pass. Token
// time is the time between two batches, including cache transfers. Prompt time starts when the host
// could first work on the prompt (previous batch's tokens chosen, caches moved) and ends when its
// first token is chosen.
//
// One window per `arm` command or armed range; otherwise one for the whole recording. A window is
// skipped if its passes do not show which sequences get a token.
std::vector<ServedWindow> served_windows(const trace::Trace& trace, const Stages& stages);

}  // namespace llmprof::analysis
