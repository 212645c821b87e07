#pragma once

#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// A time on a thread.
struct HostMoment {
  trace::ThreadId thread;
  Nanoseconds time = 0;
};

struct OpenOnHost {
  trace::StringId operation;     // the innermost framework operator; none
  trace::StringId range;         // the innermost push/pop range or annotation; none
  bool operators_known = false;  // the capture has operators of that thread
};

// What was open at each moment: one pass over the tables for all of them.
std::vector<OpenOnHost> open_at(const trace::Trace& trace, const std::vector<HostMoment>& moments);

}  // namespace llmprof::analysis
