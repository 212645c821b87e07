#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/naming/classes.h"
#include "analysis/stages/stages.h"
#include "base/units.h"
#include "trace/tables.h"

namespace llmprof::analysis {

// What collectives of one kind have in common.
struct CollectiveKey {
  CollectiveKind kind = CollectiveKind::other;
  std::optional<uint64_t> bytes;  // of the message of one rank
  std::string group;              // as the capture names it; otherwise its device and stream
  bool group_stated = false;      // by the capture
  std::string members;            // "0,1,2,3"; empty if not stated
  uint32_t group_size = 0;        // 0: not stated

  friend bool operator==(const CollectiveKey&, const CollectiveKey&) = default;
};

// One rank's communication with others, as its device ran it; ordered by start.
struct Collectives {
  static constexpr uint32_t kNoStep = UINT32_MAX;
  static constexpr Nanoseconds kNotKnown = INT64_MIN;

  std::vector<CollectiveKey> keys;

  std::vector<Nanoseconds> start;  // of its kernel, on the capture's clock
  std::vector<Nanoseconds> end;
  std::vector<Nanoseconds> launched;  // start of the call that launched it; kNotKnown
  std::vector<Nanoseconds> exposed;   // its time without a concurrent kernel of another class
  // Time with at least one kernel that is not communication, since the previous collective on this
  // device ended (or the step started).
  std::vector<Nanoseconds> busy_before;
  std::vector<uint32_t> key;
  std::vector<uint32_t> step;      // row of profile::Profile::steps; kNoStep outside steps
  std::vector<uint64_t> sequence;  // the group's own number; trace::kNoSequence
  std::vector<uint8_t> in_graph;   // replayed by a CUDA graph

  [[nodiscard]] size_t size() const { return start.size(); }
};

// Kernels of class communication, and kernels that the capture marks as communication, with the
// capture's data about each. The name is the fallback for the kind. Without a stated group, the
// collectives of one device and stream are one group.
Collectives find_collectives(const trace::Trace& trace, const DescribedNames& names,
                             const Stages& stages);

}  // namespace llmprof::analysis
