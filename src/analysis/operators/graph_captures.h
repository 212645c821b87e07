#pragma once

#include <vector>

#include "base/diagnostics.h"
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

// A CUDA graph's replay runs no operators: its kernels have those, and the layers, that were open
// when the graph was captured. Engines can trace that apart from the execution (vLLM, SGLang), and
// a PyTorch trace from a program's start on holds both.
//
// Kernels of replays get the call that captured them (KernelTable::node_launch) and the range that
// was open then (node_range). A replay belongs to a captured graph with as many kernels of the same
// names, in the same order or, where streams ran side by side, each name in its own order. Names
// are compared where the capture says what a call launches; else the number of kernels decides.
//
// Traces that hold captures alone are then no execution: their own GPU work is taken out.
void use_graph_captures(trace::Trace& trace, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
