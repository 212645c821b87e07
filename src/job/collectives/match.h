#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "job/clock/align_clocks.h"
#include "job/rank_comparison.h"
#include "job/steps/job_steps.h"

namespace llmprof::job {

// Ranks that communicate with each other.
struct Group {
  std::string name;               // unique in the job
  std::vector<uint64_t> members;  // as captures state them; empty if not stated
  uint64_t size = 0;              // including ranks without a capture
  std::vector<uint32_t> parts;    // parts with collectives of this group, by rank
};

// One part's collectives of a lane, in their order on its device.
struct Sequence {
  uint32_t part = 0;
  PackedRows rows;  // rows of the part's collectives
};

// Collectives of a group that are matched by order: all collectives, or those sent from one rank to
// the next.
struct Lane {
  uint32_t group = 0;
  bool point_to_point = false;
  std::vector<Sequence> sequences;  // by rank
};

struct Lanes {
  std::vector<Group> groups;
  std::vector<Lane> lanes;
};

// Groups as captures state them. If they state too little, groups follow from what ranks of one
// program have in common: the group's name, its size (set by --tp), the stream of its collectives.
Lanes find_lanes(const std::vector<RankPart>& parts, const ParallelismOptions& options);

// Parses "0,1,2" or "[0, 1, 2]"; empty if the text is neither.
std::vector<uint64_t> parse_members(const std::string& text);

// Collectives that all parts of a lane have. The n-th is row rows[k][n] of the collectives of
// parts[k].
struct MatchedLane {
  uint32_t group = 0;
  bool point_to_point = false;
  std::vector<uint32_t> parts;
  std::vector<PackedRows> rows;

  [[nodiscard]] size_t size() const { return rows.empty() ? 0 : rows.front().size(); }
  [[nodiscard]] uint32_t row(size_t match, size_t k) const { return rows[k][match]; }
};

// Lanes of fewer than two parts have no matches.
std::vector<MatchedLane> match_collectives(const std::vector<RankPart>& parts, const Lanes& lanes);

// Moments to align clocks by: ends of collectives that no rank leaves before all have arrived; if a
// pair of parts has none, ends of others. At most `most` per pair.
std::vector<SameMoments> same_moments(const std::vector<RankPart>& parts,
                                      const std::vector<MatchedLane>& lanes, size_t most = 20'000);

// Steps that contain these collectives.
std::vector<SameSteps> same_steps(const std::vector<RankPart>& parts,
                                  const std::vector<MatchedLane>& lanes);

// One rank's collectives in a lane, in the form that is compared.
struct LaneCalls {
  std::vector<uint64_t> token;     // kind and size; equal ones may be the same collective
  std::vector<uint64_t> sequence;  // the group's own numbers; empty unless all are stated
  std::vector<Nanoseconds> end;    // on the rank's clock
};

// What the captures state about the clocks: `offset` is the first's time minus the second's.
struct RoughClock {
  Nanoseconds offset = 0;
  Nanoseconds tolerance = 0;
  bool exact = false;  // one clock: the ends alone show which collectives match
};

// By place in `first`: the place in `second` of the same collective, or kNoRow. Matches by the
// group's own numbers, otherwise by order. If a capture started earlier or later, its shift is
// found from kinds, sizes and the times between ends, which all ranks share.
std::vector<uint32_t> align_sequences(const LaneCalls& first, const LaneCalls& second,
                                      const std::optional<RoughClock>& rough);

// Like align_sequences, for captures that miss collectives in between. Matches collectives of equal
// kind and size whose ends fit one offset and a slow drift. The offset is the one most pairs agree
// on; it is known if both read one clock.
std::vector<uint32_t> align_by_time(const LaneCalls& first, const LaneCalls& second,
                                    const std::optional<RoughClock>& rough);

// Pairs of an alignment whose ends fit its offset and drift to within half of the median time
// between collectives, and within `most`.
size_t pairs_that_fit(const LaneCalls& first, const LaneCalls& second,
                      const std::vector<uint32_t>& match, Nanoseconds most = 50'000'000);

}  // namespace llmprof::job
