#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/stages/stages.h"
#include "base/diagnostics.h"
#include "profile/token_times.h"

namespace llmprof::analysis {

// Computes everything that follows from instances (start and range end, process, device, stage),
// steps (instance and kind) and owners: orders instances and steps, extends an instance to its last
// GPU work if the range closed earlier (and reports that), sets the steps' windows, GPU work,
// statistics and warm-up flags. Used for annotated and detected stages.
void measure_stages(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics);

// Sets `work` of each instance and step, using `stages.owners`.
void meter_work(const trace::Trace& trace, Stages& stages);

// Reports which figures cover only the traced steps.
void report_untraced(const Stages& stages, Diagnostics& diagnostics);

// Recomputes sums after narrowing: GPU work and statistics of instances and steps whose windows and
// warm-up flags are already set.
void measure_again(const trace::Trace& trace, Stages& stages);

// Wall times that token times are computed from, without warm-ups.
struct TokenWalls {
  std::vector<Nanoseconds> first_token;  // of prefills
  std::vector<Nanoseconds> per_token;    // of decodes over all their steps; of an engine's steps
  std::map<uint64_t, std::vector<Nanoseconds>> by_batch;  // an engine's steps by sequences
};
TokenWalls token_walls(const Stages& stages);
profile::TokenTimes token_times(TokenWalls walls);

// The functions below select the instances that enter statistics. Call them in this order;
// instances must be measured and ordered by start.

// Marks (StageInstance::traced_in_part) instances without a range of their own that are at the edge
// of a tracing window and have fewer steps than another instance of their stage. Partial instances
// are not used to detect warm-up.
void find_traced_parts(Stages& stages);

// Uses the program's own warm-up ranges if there are any. Otherwise flags first instances until one
// is like all later ones: not fewer steps, and not clearly longer (one test for all series). A
// request's prefill and decode share the flag. No stage loses all its instances. The diagnostic
// says if a CUDA graph was captured: the program's own clock may count such a request.
void flag_warmup(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics);

// Excludes traced parts from statistics and reports them. A stage that has nothing else keeps them.
void exclude_traced_parts(Stages& stages, Diagnostics& diagnostics);

// Excludes partially recorded instances from statistics and reports them: a first instance that
// started before recording (it has fewer kernels than the others, and the capture's first ones),
// and a last one that had not ended (its range is open, or it has fewer kernels or steps than the
// others, and the capture's last ones). A stage's only instance is kept.
void flag_cut_off(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics);

// Flags stages of which only the program's first one or two instances were recorded although the
// program continued untraced: tracing windows open at its start, and later ones may see other
// stages.
void flag_only_first(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
