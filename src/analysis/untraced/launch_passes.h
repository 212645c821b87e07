#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/stages/stages.h"
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
  [[nodiscard]] auto first_wait_from(Nanoseconds time) const {
    return std::ranges::lower_bound(waits, time, {}, &Wait::start);
  }
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

// A forward pass as launches [first, end) of a sequence.
struct LaunchPass {
  uint32_t stage = 0;
  size_t first = 0;
  size_t end = 0;
  InstanceId instance{};  // that it is of; none where it was found by its launches alone
  // Launches right before it, in its instance, that are captured into its graph: it begins with
  // them.
  size_t lead = 0;
};

// The passes of the stages, in order: a step, or an instance that has none. Those that a window of
// tracing cut are left out, and those whose launches are between another's.
std::vector<LaunchPass> recorded_passes(const trace::Trace& trace, const Stages& stages,
                                        const LaunchSequence& sequence);

// What passes are made of, to find them where nothing was recorded.
class PassSignatures {
 public:
  // A pass of few launches without a graph could be anything, and is not learned; nor is one whose
  // launches are those of several others.
  void learn(std::span<const uint32_t> tokens, const LaunchSequence& sequence,
             const std::vector<LaunchPass>& passes);

  // Within launches [first, end), from the left, the longest signature first.
  [[nodiscard]] std::vector<LaunchPass> find(std::span<const uint32_t> tokens, size_t first,
                                             size_t end, size_t longest = SIZE_MAX) const;

 private:
  struct Signature {
    size_t first = 0;                               // a pass that has it
    size_t lead = 0;                                // that pass's
    std::unordered_map<uint32_t, uint64_t> stages;  // how often it was a pass of each
  };
  [[nodiscard]] std::vector<size_t> lengths() const;  // the longest first
  std::unordered_map<size_t, std::unordered_map<uint64_t, Signature>> by_length_;
};

}  // namespace llmprof::analysis
