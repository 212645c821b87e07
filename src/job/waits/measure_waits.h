#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "job/collectives/match.h"
#include "job/rank_comparison.h"
#include "job/steps/job_steps.h"

namespace llmprof::job {

// A step of the job, or an instance of a stage without steps.
struct JobUnit {
  uint32_t stage = 0;
  Nanoseconds wall = 0;
  bool counted = false;  // neither warm-up nor after untraced steps
};

// Which unit each collective of each rank is in.
class Units {
 public:
  Units(const std::vector<RankPart>& parts, const JobSteps& steps);

  static constexpr uint32_t kOutside = UINT32_MAX;        // in no stage
  static constexpr uint32_t kNotCommon = UINT32_MAX - 1;  // in a step that not all ranks have

  [[nodiscard]] const std::vector<std::string>& stages() const { return stages_; }
  [[nodiscard]] const std::vector<JobUnit>& units() const { return units_; }
  [[nodiscard]] bool by_step(uint32_t stage) const { return by_step_[stage] != 0; }
  // Row in the part's steps or instances, or kNoRow.
  [[nodiscard]] uint32_t row(uint32_t unit, uint32_t part) const;
  [[nodiscard]] uint64_t counted(uint32_t stage) const { return counted_[stage]; }
  [[nodiscard]] Nanoseconds wall(uint32_t stage) const { return wall_[stage]; }  // of counted units

  // Unit of a collective, by the collective's row.
  [[nodiscard]] uint32_t unit_of(uint32_t part, uint32_t row) const;

 private:
  struct Span {
    Nanoseconds start = 0;  // on the rank's clock
    Nanoseconds end = 0;
    uint32_t unit = 0;
  };
  void add_spans(const std::vector<RankPart>& parts, const JobInstance& instance, uint32_t unit);

  const std::vector<RankPart>& parts_;
  const JobSteps& steps_;
  std::vector<std::string> stages_;
  std::vector<uint8_t> by_step_;
  std::vector<uint64_t> counted_;
  std::vector<Nanoseconds> wall_;
  std::vector<JobUnit> units_;              // steps, then instances of stages without steps
  std::vector<uint32_t> instance_of_unit_;  // units after the steps
  std::vector<std::vector<uint32_t>> unit_of_step_;  // by part, by row of steps
  std::vector<std::vector<Span>> spans_;             // by part, by start
};

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
  CollectiveKind kind = CollectiveKind::other;
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

// What is known about a job once its waits are measured.
struct MeasuredJob {
  const std::vector<RankPart>& parts;
  const Lanes& lanes;
  const std::vector<MatchedLane>& matched;  // by lane
  const Units& units;
  const Waits& waits;
};

// By part, by stage that the part has: how its time in the job's steps was spent.
std::vector<std::vector<profile::RankStage>> rank_stages(const MeasuredJob& job);

inline constexpr uint64_t kMostBins = 512;
uint64_t units_per_bin(const Units& units);

// Rows are ranks, columns are units: the job's steps, in order.
profile::Heat make_heat(const MeasuredJob& job);

// Wall time of the part's own step or instance; it includes waits.
Nanoseconds own_wall(const RankPart& part, const Units& units, uint32_t unit, uint32_t row);
// Time with work on the device.
Nanoseconds own_busy(const RankPart& part, const Units& units, uint32_t unit, uint32_t row);

}  // namespace llmprof::job
