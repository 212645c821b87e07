#pragma once

#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

struct DetachedPeriod {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
};

// When CUPTI was not attached to a process that our collector traced for a part of the time: the
// program ran at its own speed. None where nothing was traced.
std::vector<DetachedPeriod> detached_periods(const trace::Trace& trace, trace::ProcessId process);

}  // namespace llmprof::analysis
