#pragma once

#include "analysis/stages/stages.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// Fills everything that follows from instances (their start and range end, process, device, stage),
// steps (their instance and kind) and owners: orders instances and steps, extends an instance to
// its last GPU work where the range closed earlier (and says so), sets the steps' windows, GPU
// work, statistics, warm-up flags, coverage and token times. Annotated and detected stages share
// it.
void measure_stages(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics);

// Sets `work` of each instance and step, by `stages.owners`.
void meter_work(const trace::Trace& trace, Stages& stages);

// Sums up again what narrowing has changed: GPU work, statistics, coverage and token times of
// instances and steps whose windows and warm-up flags stand.
void measure_again(const trace::Trace& trace, Stages& stages);

// Which instances are as the others are: what statistics are of. In this order; instances are
// measured, and in order of their start.

// Marks (StageInstance::traced_in_part) instances without a range of their own that stand at the
// edge of a window of tracing and have fewer steps than another one of their stage. What is no
// whole one tells nothing about warm-up.
void find_traced_parts(Stages& stages);

// Keeps to what the program itself calls warm-up, where it does. Else flags the instances that come
// first and differ from the later ones as a warm-up does: fewer steps, or clearly longer with the
// same work. A request's prefill and decode share the flag. No stage loses all its instances. What
// is said of them tells where a CUDA graph was captured: the program's own clock may count such a
// request.
void flag_warmup(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics);

// Excludes traced parts from all statistics, and says so. A stage that has nothing else keeps them.
void exclude_traced_parts(Stages& stages, Diagnostics& diagnostics);

// Excludes from all statistics, and says so, what the capture holds only a part of: a first
// instance that had begun before recording did (it has fewer kernels than the others, and the
// capture's first ones), and a last one that had not ended (its range is open, it has fewer kernels
// or fewer steps than the others, and the capture's last ones). A stage's only instance is kept.
void flag_cut_off(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics);

// Flags stages of which only the program's first instance or two were recorded although the program
// ran on while nothing was traced: windows of tracing open at its start, and later ones may see
// other stages.
void flag_only_first(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
