#pragma once

#include <string_view>

#include "trace/trace.h"

namespace llmprof::analysis {

// What all kernels of a trace ran on: a CPU where they are a program's own operators and nothing
// else, a GPU otherwise.
trace::DeviceKind device_kind(const trace::Trace& trace);

// How reports speak of it. A CPU is not idle outside of operators: it does what nobody recorded.
struct DeviceWords {
  std::string_view device;   // "GPU"
  std::string_view is_idle;  // "is idle"
  std::string_view peak;     // "dense peak"
};
const DeviceWords& device_words(trace::DeviceKind kind);

// CPU operators beside a GPU's kernels stay operators: both added up would be nobody's time. Takes
// them out of the kernels and says so.
void leave_cpu_operators_aside(trace::Trace& trace, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
