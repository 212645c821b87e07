#pragma once

#include <cstdint>
#include <vector>

#include "job/clock/align_clocks.h"
#include "job/collectives/lanes.h"
#include "job/steps/job_steps.h"

namespace llmprof::job {

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

}  // namespace llmprof::job
