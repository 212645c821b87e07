#pragma once

#include <vector>

#include "base/diagnostics.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// A graph whose capture a PyTorch trace recorded: the calls between the start and end of a stream's
// capture that launch kernels. None of them ran anything.
struct CapturedGraph {
  trace::CaptureId capture;
  std::vector<trace::LaunchRow> launches;  // in order
  std::vector<trace::StringId> names;      // of the kernels launched; empty if not recorded
  std::vector<trace::RangeRow> ranges;     // innermost open range at each launch; invalid if none
};

std::vector<CapturedGraph> captured_graphs(const trace::Trace& trace);

// A CUDA graph's replay runs no operators: its kernels belong to the operators and layers that were
// open when the graph was captured. Engines can trace that separately from the execution (vLLM,
// SGLang); a PyTorch trace from a program's start contains both.
//
// Kernels of replays get the call that captured them (KernelTable::node_launch) and the range that
// was open then (node_range). A replay matches a captured graph with the same number of kernels and
// the same names, in the same order or, if streams ran concurrently, in the same order per name.
// Names are compared if the capture records what each call launches; otherwise the number of
// kernels decides.
//
// Traces that contain only captures are not executions: their own GPU work is removed.
void use_graph_captures(trace::Trace& trace, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
