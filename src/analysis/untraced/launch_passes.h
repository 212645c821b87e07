#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/stages/stages.h"
#include "analysis/untraced/launch_sequence.h"

namespace llmprof::analysis {

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
