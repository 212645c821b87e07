#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/stages/stages.h"
#include "analysis/tracing/untraced_gpu_time.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// One thread's launches in order, and its waits for the GPU, as the launch interceptor noted.
struct LaunchSequence {
  struct Wait {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
  };
  trace::ThreadId thread;  // none: there are no notes
  std::vector<Nanoseconds> start;
  std::vector<bool> graph;  // a CUDA graph, not a kernel
  std::vector<uint64_t> handle;
  // Launches without GPU work: captured into a graph. Empty: unknown.
  std::vector<bool> without_work;
  std::vector<Wait> waits;

  [[nodiscard]] size_t size() const { return start.size(); }
  // The first wait that started at this time or later.
  [[nodiscard]] auto first_wait_from(Nanoseconds time) const {
    return std::ranges::lower_bound(waits, time, {}, &Wait::start);
  }
};

// From the launch interceptor or driver callbacks: threads with many launches, the busiest first.
// Passes need not run on the busiest thread: a compiler tries candidates on its own threads.
std::vector<LaunchSequence> noted_sequences(const trace::Trace& trace);
// The same from traced calls: every launch, kernels by name, graphs by ID. For comparison with what
// the driver reported for another run (HostCallTable::of_driver).
std::vector<LaunchSequence> traced_sequences(const trace::Trace& trace);

// One number per launch that does not depend on the process: equal sequences of work have equal
// tokens in every run. A kernel's token is the number of launches since its function's last launch,
// up to about the length of a layer (threshold::kFarthestLaunch). The n-th graph that a run
// launches first is the same in every run.
std::vector<uint32_t> launch_tokens(const LaunchSequence& sequence);

// When CUPTI was detached from a process that our collector traced part of the time: the program
// ran at its own speed. None if nothing was traced.
std::vector<TracingPeriods::Period> detached_periods(const trace::Trace& trace,
                                                     trace::ProcessId process);

// A forward pass as launches [first, end) of a sequence.
struct LaunchPass {
  uint32_t stage = 0;
  size_t first = 0;
  size_t end = 0;
  InstanceId instance{};  // none if the pass was found only by its launches
  // Launches right before it, in its instance, that are captured into its graph: the pass starts
  // with them.
  size_t lead = 0;
};

// The passes of the stages, in order: steps, or instances without steps. Skips passes cut by a
// tracing window, and passes whose launches are between another's.
std::vector<LaunchPass> recorded_passes(const trace::Trace& trace, const Stages& stages,
                                        const LaunchSequence& sequence);

// Launch patterns of passes, to find passes in unrecorded periods.
class PassSignatures {
 public:
  // Does not learn passes of few launches without a graph, which could be anything, nor passes that
  // consist of several others.
  void learn(std::span<const uint32_t> tokens, const LaunchSequence& sequence,
             const std::vector<LaunchPass>& passes);

  // Searches launches [first, end) from the left, for the longest signature first.
  [[nodiscard]] std::vector<LaunchPass> find(std::span<const uint32_t> tokens, size_t first,
                                             size_t end, size_t longest = SIZE_MAX) const;

 private:
  struct Signature {
    size_t first = 0;                               // a pass that has it
    size_t lead = 0;                                // lead of that pass
    std::unordered_map<uint32_t, uint64_t> stages;  // how often it was a pass of each stage
  };
  [[nodiscard]] std::vector<size_t> lengths() const;  // longest first
  std::unordered_map<size_t, std::unordered_map<uint64_t, Signature>> by_length_;
};

}  // namespace llmprof::analysis
