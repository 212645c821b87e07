#pragma once

#include "trace/trace.h"

namespace llmprof::analysis {

// What all kernels of a trace ran on: a CPU where they are a program's own operators and nothing
// else, a GPU otherwise.
trace::DeviceKind device_kind(const trace::Trace& trace);

// CPU operators beside a GPU's kernels stay operators: both added up would be nobody's time. Takes
// them out of the kernels and says so.
void leave_cpu_operators_aside(trace::Trace& trace, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
