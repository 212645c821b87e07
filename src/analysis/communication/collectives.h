#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/naming/described_names.h"
#include "analysis/stages/stages.h"
#include "base/units.h"
#include "trace/tables.h"

namespace llmprof::analysis {

// What collectives of one kind share.
struct CollectiveKey {
  trace::CollectiveKind kind = trace::CollectiveKind::other;
  std::optional<uint64_t> bytes;  // of the message of one rank
  std::string group;              // as the capture names it; else its device and stream
  bool group_stated = false;      // by the capture
  std::string members;            // "0,1,2,3"; empty where not stated
  uint32_t group_size = 0;        // 0: not stated

  friend bool operator==(const CollectiveKey&, const CollectiveKey&) = default;
};

// Communication of one rank with others, as its device executed it; ordered by start.
struct Collectives {
  static constexpr uint32_t kNoStep = UINT32_MAX;
  static constexpr Nanoseconds kNotKnown = INT64_MIN;

  std::vector<CollectiveKey> keys;

  std::vector<Nanoseconds> start;  // of its kernel, on the capture's clock
  std::vector<Nanoseconds> end;
  std::vector<Nanoseconds> launched;  // begin of the call that launched it; kNotKnown
  std::vector<Nanoseconds> exposed;   // of its time, without a kernel of another class beside it
  // Since the collective before it on this device ended (or the step began): time with at least one
  // kernel that is not communication.
  std::vector<Nanoseconds> busy_before;
  std::vector<uint32_t> key;
  std::vector<uint32_t> step;      // row of profile::Profile::steps; kNoStep outside of steps
  std::vector<uint64_t> sequence;  // the group's own number; trace::kNoSequence
  std::vector<uint8_t> in_graph;   // replayed by a CUDA graph

  [[nodiscard]] size_t size() const { return start.size(); }
};

// Kernels of class communication, and those that the capture says to communicate, with what the
// capture says of each. What a name shows (the kind) is the fallback; without a group, those of one
// device and stream are one.
Collectives find_collectives(const trace::Trace& trace, const DescribedNames& names,
                             const Stages& stages);

}  // namespace llmprof::analysis
