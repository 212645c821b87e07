#pragma once

#include <vector>

#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// An estimate of what the requests of a serving engine saw within one window of recording, by its
// batches: no request is known. Times in ns, mean.
struct ServedWindow {
  Nanoseconds start = 0;  // of its first pass
  Nanoseconds end = 0;    // the host had chosen the last token
  uint64_t batches = 0;
  uint64_t passes = 0;
  uint64_t rows = 0;  // tokens that sequences got
  uint64_t most_rows = 0;
  uint64_t prompts = 0;    // first tokens
  double prompt_time = 0;  // 0 without prompts
  uint64_t tokens = 0;     // that follow one of their sequence
  double token_time = 0;   // 0 without tokens
};

// By batches: passes that give every sequence one token, the last of which the host waits for. The
// time of a token is that between two, caches that are moved
// in between included; the time of a prompt begins where the host could first turn to it (the
// tokens of the batch before were chosen, caches were moved), and ends when its first token is
// chosen.
//
// Windows are those that somebody opened (a command, a range); else all is one. A window in which
// passes do not tell which sequences get a token is left out.
std::vector<ServedWindow> served_windows(const trace::Trace& trace, const Stages& stages);

}  // namespace llmprof::analysis
