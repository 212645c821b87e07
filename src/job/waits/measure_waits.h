#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "job/collectives/match.h"
#include "job/rank_comparison.h"
#include "job/waits/units.h"

namespace llmprof::job {

// One collective on all ranks of a lane, on the job's clock.
struct MatchTimes {
  uint32_t last = 0;        // place in the lane's parts of the last rank to arrive
  Nanoseconds arrival = 0;  // of the last rank
  Nanoseconds end = 0;      // the last end
  Nanoseconds longest_wait = 0;
  Nanoseconds all_waits = 0;  // sum over all ranks
};

// Times of each match of a lane.
class PackedMatchTimes {
 public:
  void push_back(const MatchTimes& times);
  void shrink();
  [[nodiscard]] MatchTimes operator[](size_t match) const {
    return {last_[match], arrival_[match], arrival_[match] + latency_[match], longest_wait_[match],
            all_waits_[match]};
  }

 private:
  PackedIndexes last_;
  PackedTimes arrival_;
  PackedTimes latency_;  // from arrival to end
  PackedTimes longest_wait_;
  PackedTimes all_waits_;
};

// Communication of one rank in the counted units of a stage.
struct RankCommunication {
  double wait = 0;  // ns without concurrent compute, as is `transfer`
  double transfer = 0;
  double hidden = 0;  // with concurrent compute
  double caused = 0;  // longest waits for this rank
};

struct CollectiveSumsKey {
  uint32_t stage = 0;  // Units::kOutside: none
  uint32_t group = 0;
  trace::CollectiveKind kind = trace::CollectiveKind::other;
  std::optional<uint64_t> bytes;

  friend auto operator<=>(const CollectiveSumsKey&, const CollectiveSumsKey&) = default;
};
struct CollectiveSums {
  uint64_t unmatched = 0;
  PackedTimes latency;
  PackedTimes wait;  // the longest wait of each match
  double wait_total = 0;
  double transfer_total = 0;
  double exposed_total = 0;
  uint32_t parts = 0;
  uint64_t in_graph = 0;
  std::map<uint32_t, uint64_t> last;  // by part
};

struct Waits {
  std::vector<std::vector<RankCommunication>> by_stage;  // by stage, by part
  std::map<CollectiveSumsKey, CollectiveSums> collectives;
  std::vector<PackedMatchTimes> matches;    // by lane
  std::vector<std::vector<double>> by_bin;  // by part, by bin of units: ns waited
};

Waits measure_waits(const std::vector<RankPart>& parts, const Lanes& lanes,
                    const std::vector<MatchedLane>& matched,
                    const std::vector<profile::RankClock>& clocks, const Units& units,
                    uint64_t units_per_bin);

// By part, by stage that the part has: how its time in the job's steps was spent.
std::vector<std::vector<profile::RankStage>> rank_stages(const std::vector<RankPart>& parts,
                                                         const Units& units, const Waits& waits);

inline constexpr uint64_t kMostBins = 512;
uint64_t units_per_bin(const Units& units);

// Rows are ranks, columns are units: the job's steps, in order.
profile::Heat make_heat(const std::vector<RankPart>& parts, const Units& units, const Waits& waits);

// Wall time of the part's own step or instance; it includes waits.
Nanoseconds own_wall(const RankPart& part, const Units& units, uint32_t unit, uint32_t row);
// Time with work on the device.
Nanoseconds own_busy(const RankPart& part, const Units& units, uint32_t unit, uint32_t row);

}  // namespace llmprof::job
