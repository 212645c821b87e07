#pragma once

#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// A graph as a PyTorch trace saw it captured: the calls that launch kernels between the begin and
// the end of a stream's capture, none of which ran anything.
struct CapturedGraph {
  trace::CaptureId capture;
  std::vector<trace::LaunchRow> launches;  // in order
  std::vector<trace::StringId> names;      // of the kernels launched; empty where not recorded
  std::vector<trace::RangeRow> ranges;     // the innermost open at each launch; none: no range
};

std::vector<CapturedGraph> captured_graphs(const trace::Trace& trace);

}  // namespace llmprof::analysis
