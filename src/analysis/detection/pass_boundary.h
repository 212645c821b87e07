#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/detection/pass_markers.h"

namespace llmprof::analysis {

// The kernels between the last layer's attention of one pass and the first one's of the next:
// positions [first, last).
struct PassGap {
  uint32_t first = 0;
  uint32_t last = 0;
  bool pass_before = false;
  bool pass_behind = false;
  bool replay_behind = false;
  // Kernels from the last layer to the selection of the token, where other passes follow at once.
  uint32_t usual_tail = 0;
};

// Where one pass ends and the next begins. What lies between belongs to neither.
struct PassBoundary {
  std::optional<uint32_t> end;    // of the pass before
  std::optional<uint32_t> begin;  // of the pass after it
  std::optional<uint32_t> embedding;
  std::optional<uint32_t> row_gather;
  std::optional<uint32_t> selection;
};

// When results were copied back to the host.
using ReadBacks = std::vector<Nanoseconds>;
ReadBacks find_read_backs(const KernelSequence& sequence);

PassBoundary find_boundary(const KernelSequence& sequence, const PassGap& gap,
                           std::span<const PassMarker> markers, const ReadBacks& read_backs);

}  // namespace llmprof::analysis
