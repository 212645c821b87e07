#pragma once

#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// What one thread launched, in order, and when it waited for the GPU, as the light watch noted it.
struct LaunchSequence {
  struct Wait {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
  };
  trace::ThreadId thread;  // none: nothing was noted
  std::vector<Nanoseconds> start;
  std::vector<bool> graph;  // a CUDA graph, not a kernel
  std::vector<uint64_t> handle;
  // Put no work on a GPU: captured into a graph. Empty: not known.
  std::vector<bool> without_work;
  std::vector<Wait> waits;

  [[nodiscard]] size_t size() const { return start.size(); }
  // The first one that began at this time or later.
  [[nodiscard]] std::vector<Wait>::const_iterator first_wait_from(Nanoseconds time) const;
};

// As the light watch noted them, or the driver reported them: of the threads that launched much,
// the busiest first. What runs passes need not be the busiest: a compiler tries candidates on
// threads of its own.
std::vector<LaunchSequence> noted_sequences(const trace::Trace& trace);
// The same as they were traced: every launch, kernels by their names, graphs by their IDs. To be
// compared with what the driver reported of another run (HostCallTable::of_driver).
std::vector<LaunchSequence> traced_sequences(const trace::Trace& trace);

// Launches between two of the same function up to which tokens tell them, about those of a layer.
inline constexpr uint32_t kFarthestLaunch = 48;

// How far the graphs of two runs are told apart.
enum class GraphTokens : uint8_t {
  by_first_use,  // the first graph that a run launches is the same in every run, and so on
  all_alike,
};

// One number per launch that does not depend on the process: equal sequences of work have equal
// tokens in every run. A kernel is told by how many launches ago its function was last launched,
// within the length of a layer.
std::vector<uint32_t> launch_tokens(const LaunchSequence& sequence, GraphTokens graphs);

struct DetachedPeriod {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
};

// When CUPTI was not attached to a process that our collector traced for a part of the time: the
// program ran at its own speed. None where nothing was traced.
std::vector<DetachedPeriod> detached_periods(const trace::Trace& trace, trace::ProcessId process);

}  // namespace llmprof::analysis
