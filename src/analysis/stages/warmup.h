#pragma once

#include "analysis/stages/stages.h"
#include "base/diagnostics.h"

namespace llmprof::analysis {

// Keeps to what the program itself calls warm-up, where it does. Else flags the instances that come
// first and differ from the later ones as a warm-up does: fewer steps, or clearly longer with the
// same work. A request's prefill and decode share the flag. No stage loses all its instances.
// Instances are measured and in order. What is said of them tells where a CUDA graph was captured:
// the program's own clock may count such a request.
void flag_warmup(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
