#include "job/waits/measure_waits.h"

#include <algorithm>

#include "job/job_clock.h"

namespace llmprof::job {
namespace {

using analysis::CollectiveKey;

class WaitMeter {
 public:
  WaitMeter(const std::vector<RankPart>& parts, const std::vector<profile::RankClock>& clocks,
            const Units& units, uint64_t units_per_bin)
      : parts_(parts),
        clocks_(clocks.begin(), clocks.end()),
        units_(units),
        units_per_bin_(units_per_bin) {
    found_.by_stage.assign(units.stages().size(), std::vector<RankCommunication>(parts.size()));
    const size_t bins = (units.units().size() + units_per_bin - 1) / units_per_bin;
    found_.by_bin.assign(parts.size(), std::vector<double>(bins, 0));
  }

  // Everything counts as transfer until a match shows the wait.
  void add_all_transfers() {
    for (uint32_t part = 0; part < parts_.size(); ++part) {
      const PackedCollectives& of = parts_[part].collectives;
      for (uint32_t row = 0; row < of.size(); ++row) {
        RankCommunication* into = counted(part, units_.unit_of(part, row));
        if (into == nullptr) continue;
        const auto exposed = static_cast<double>(of.exposed(row));
        into->transfer += exposed;
        into->hidden += static_cast<double>(of.duration(row)) - exposed;
      }
    }
  }

  void add_lane(const MatchedLane& lane) {
    PackedMatchTimes& times = found_.matches.emplace_back();
    for (size_t match = 0; match < lane.size(); ++match) times.push_back(add_match(lane, match));
    times.shrink();
  }

  void add_unmatched(const Lane& lane, const MatchedLane& matched) {
    for (const Sequence& sequence : lane.sequences) {
      const auto at = std::ranges::find(matched.parts, sequence.part);
      std::vector<uint32_t> known;
      if (at != matched.parts.end()) {
        const auto k = static_cast<size_t>(at - matched.parts.begin());
        known.reserve(matched.size());
        for (size_t match = 0; match < matched.size(); ++match)
          known.push_back(matched.row(match, k));
        std::ranges::sort(known);
      }
      for (size_t i = 0; i < sequence.rows.size(); ++i) {
        const uint32_t row = sequence.rows[i];
        if (std::ranges::binary_search(known, row)) continue;
        const uint32_t unit = units_.unit_of(sequence.part, row);
        if (!is_shown(unit)) continue;
        CollectiveSums& into = sums(lane.group, sequence.part, row, unit);
        ++into.unmatched;
        if (parts_[sequence.part].collectives.in_graph(row)) ++into.in_graph;
      }
    }
  }

  Waits take() { return std::move(found_); }

 private:
  [[nodiscard]] RankCommunication* counted(uint32_t part, uint32_t unit) {
    if (unit >= units_.units().size() || !units_.units()[unit].counted) return nullptr;
    return &found_.by_stage[units_.units()[unit].stage][part];
  }

  // Collectives outside stages are shown too; those in warm-ups and in steps that not all ranks
  // have are not.
  [[nodiscard]] bool is_shown(uint32_t unit) const {
    if (unit == Units::kOutside) return true;
    return unit < units_.units().size() && units_.units()[unit].counted;
  }

  CollectiveSums& sums(uint32_t group, uint32_t part, uint32_t row, uint32_t unit) {
    const PackedCollectives& of = parts_[part].collectives;
    const CollectiveKey& key = of.keys[of.key(row)];
    const uint32_t stage = unit == Units::kOutside ? Units::kOutside : units_.units()[unit].stage;
    CollectiveSumsKey wanted{stage, group, key.kind, key.bytes};
    // A send and its receive share one entry.
    if (wanted.kind == CollectiveKind::receive) wanted.kind = CollectiveKind::send;
    if (last_sums_ != nullptr && wanted == last_key_) return *last_sums_;
    last_key_ = wanted;
    last_sums_ = &found_.collectives[wanted];
    return *last_sums_;
  }

  // One rank's part of a match. It waits until the last rank arrives, but never longer than its own
  // kernel runs.
  struct OfRank {
    uint32_t row = 0;
    Nanoseconds start = 0;  // on the job's clock
    Nanoseconds duration = 0;
    Nanoseconds wait = 0;
  };

  // Fills ranks_, by place in the lane's parts.
  MatchTimes read_match(const MatchedLane& lane, size_t match) {
    MatchTimes times;
    ranks_.resize(lane.parts.size());
    for (uint32_t k = 0; k < lane.parts.size(); ++k) {
      const PackedCollectives& of = parts_[lane.parts[k]].collectives;
      OfRank& rank = ranks_[k];
      rank.row = lane.row(match, k);
      rank.start = clocks_[lane.parts[k]].job_time(of.start(rank.row));
      rank.duration = of.duration(rank.row);
      if (k == 0 || rank.start > times.arrival) {
        times.arrival = rank.start;
        times.last = k;
      }
      const Nanoseconds end = rank.start + rank.duration;
      times.end = k == 0 ? end : std::max(times.end, end);
    }
    for (OfRank& rank : ranks_) {
      rank.wait = std::min(times.arrival - rank.start, rank.duration);
      times.longest_wait = std::max(times.longest_wait, rank.wait);
      times.all_waits += rank.wait;
    }
    return times;
  }

  MatchTimes add_match(const MatchedLane& lane, size_t match) {
    const MatchTimes times = read_match(lane, match);
    const uint32_t row = ranks_.front().row;
    const uint32_t first_unit = units_.unit_of(lane.parts[0], row);
    CollectiveSums* into =
        is_shown(first_unit) ? &sums(lane.group, lane.parts[0], row, first_unit) : nullptr;
    for (size_t k = 0; k < lane.parts.size(); ++k) {
      add_rank(lane.parts[k], ranks_[k], into);
    }
    if (RankCommunication* last = counted(lane.parts[times.last], first_unit)) {
      last->caused += static_cast<double>(times.longest_wait);
    }
    if (into == nullptr) return times;
    into->latency.push_back(times.end - times.arrival);
    into->wait.push_back(times.longest_wait);
    into->parts = std::max(into->parts, static_cast<uint32_t>(lane.parts.size()));
    if (parts_[lane.parts[0]].collectives.in_graph(row)) ++into->in_graph;
    ++into->last[lane.parts[times.last]];
    return times;
  }

  void add_rank(uint32_t part, const OfRank& rank, CollectiveSums* into) {
    const auto wait = static_cast<double>(rank.wait);
    const auto duration = static_cast<double>(rank.duration);
    const auto exposed = static_cast<double>(parts_[part].collectives.exposed(rank.row));
    // Concurrent compute is assumed to be spread evenly over the collective.
    const double exposed_wait = duration > 0 ? wait * exposed / duration : 0;
    const uint32_t unit = units_.unit_of(part, rank.row);
    if (RankCommunication* of_rank = counted(part, unit)) {
      of_rank->wait += exposed_wait;
      of_rank->transfer -= exposed_wait;
    }
    if (unit < units_.units().size()) found_.by_bin[part][unit / units_per_bin_] += exposed_wait;
    if (into == nullptr) return;
    into->wait_total += wait;
    into->transfer_total += duration - wait;
    into->exposed_total += exposed;
  }

  const std::vector<RankPart>& parts_;
  std::vector<JobClock> clocks_;  // by part
  const Units& units_;
  uint64_t units_per_bin_;
  Waits found_;
  std::vector<OfRank> ranks_;
  // Consecutive collectives are often alike.
  CollectiveSumsKey last_key_;
  CollectiveSums* last_sums_ = nullptr;
};

// Time of copies and fills only, per unit; the budget covers all units except warm-up.
double copies_per_unit(const profile::Stage& stage, bool by_step) {
  if (!stage.budget) return 0;
  for (const profile::BudgetPart& part : *stage.budget) {
    if (part.part != profile::TimePart::memory_operations) continue;
    const uint64_t number = by_step ? stage.step_count : stage.instance_count - stage.warmup_count;
    return number == 0 ? 0 : static_cast<double>(part.total_ns.value) / static_cast<double>(number);
  }
  return 0;
}

struct UnitSums {
  double busy = 0;
  uint64_t tokens = 0;
  bool tokens_known = true;
};

UnitSums sums_of(const RankPart& part, uint32_t number, const Units& units, uint32_t stage) {
  UnitSums sums;
  for (uint32_t unit = 0; unit < units.units().size(); ++unit) {
    if (units.units()[unit].stage != stage || !units.units()[unit].counted) continue;
    const uint32_t row = units.row(unit, number);
    if (row == kNoRow) continue;
    sums.busy += static_cast<double>(own_busy(part, units, unit, row));
    const auto tokens = units.by_step(stage) ? part.steps.tokens(row) : std::optional<uint64_t>();
    sums.tokens_known = sums.tokens_known && tokens.has_value();
    sums.tokens += tokens.value_or(0);
  }
  return sums;
}

void add_measured(const profile::Stage& stage, profile::RankStage& into) {
  into.mfu = stage.mfu.wall;
  if (!stage.measured) return;
  if (stage.measured->sm_clock) into.sm_clock = stage.measured->sm_clock->mean;
  if (stage.measured->energy && stage.measured->steps && *stage.measured->steps > 0) {
    into.energy = profile::Joules{stage.measured->energy->value / *stage.measured->steps};
  }
}

profile::RankStage rank_stage(const RankPart& part, uint32_t number, const Units& units,
                              uint32_t stage, const RankCommunication& communication) {
  const profile::Stage& own = *find_stage(part.profile, units.stages()[stage]);
  const UnitSums sums = sums_of(part, number, units, stage);
  const auto n = static_cast<double>(units.counted(stage));
  const double wall = static_cast<double>(units.wall(stage)) / n;
  const double transfer = std::max(0.0, communication.transfer) / n;
  const double wait = communication.wait / n;
  const double copies = std::min(copies_per_unit(own, units.by_step(stage)),
                                 std::max(0.0, sums.busy / n - transfer - wait));
  // Work of a rank ahead of the job's step may lie before the step; on average it does not.
  const double compute = std::clamp(sums.busy / n - transfer - wait - copies, 0.0,
                                    std::max(0.0, wall - transfer - wait - copies));
  profile::RankStage made;
  made.stage = units.stages()[stage];
  made.wall = profile::to_milliseconds(wall);
  made.compute = profile::to_milliseconds(compute);
  made.transfer = profile::to_milliseconds(transfer);
  made.wait = profile::to_milliseconds(wait);
  made.hidden_communication = profile::to_milliseconds(communication.hidden / n);
  made.copies = profile::to_milliseconds(copies);
  made.idle = profile::to_milliseconds(wall - compute - transfer - wait - copies);
  made.caused_wait = profile::to_milliseconds(communication.caused / n);
  made.steps = units.counted(stage);
  if (sums.tokens_known && sums.tokens > 0) made.tokens = sums.tokens;
  add_measured(own, made);
  return made;
}

}  // namespace

void PackedMatchTimes::push_back(const MatchTimes& times) {
  last_.push_back(times.last);
  arrival_.push_back(times.arrival);
  latency_.push_back(times.end - times.arrival);
  longest_wait_.push_back(times.longest_wait);
  all_waits_.push_back(times.all_waits);
}

void PackedMatchTimes::shrink() {
  last_.shrink();
  arrival_.shrink();
  latency_.shrink();
  longest_wait_.shrink();
  all_waits_.shrink();
}

Waits measure_waits(const std::vector<RankPart>& parts, const Lanes& lanes,
                    const std::vector<MatchedLane>& matched,
                    const std::vector<profile::RankClock>& clocks, const Units& units,
                    uint64_t units_per_bin) {
  WaitMeter meter(parts, clocks, units, units_per_bin);
  meter.add_all_transfers();
  for (size_t lane = 0; lane < matched.size(); ++lane) {
    meter.add_lane(matched[lane]);
    meter.add_unmatched(lanes.lanes[lane], matched[lane]);
  }
  return meter.take();
}

Nanoseconds own_wall(const RankPart& part, const Units& units, uint32_t unit, uint32_t row) {
  const uint32_t stage = units.units()[unit].stage;
  if (units.by_step(stage)) return part.step_end[row] - part.step_start[row];
  return profile::to_nanoseconds(
      find_stage(part.profile, units.stages()[stage])->instances[row].wall);
}

Nanoseconds own_busy(const RankPart& part, const Units& units, uint32_t unit, uint32_t row) {
  const uint32_t stage = units.units()[unit].stage;
  if (units.by_step(stage)) return part.steps.gpu_busy(row);
  return profile::to_nanoseconds(
      find_stage(part.profile, units.stages()[stage])->instances[row].gpu_busy);
}

std::vector<std::vector<profile::RankStage>> rank_stages(const MeasuredJob& job) {
  const Units& units = job.units;
  std::vector<std::vector<profile::RankStage>> made(job.parts.size());
  for (uint32_t part = 0; part < made.size(); ++part) {
    for (uint32_t stage = 0; stage < units.stages().size(); ++stage) {
      if (units.counted(stage) == 0) continue;
      if (find_stage(job.parts[part].profile, units.stages()[stage]) == nullptr) continue;
      made[part].push_back(
          rank_stage(job.parts[part], part, units, stage, job.waits.by_stage[stage][part]));
    }
  }
  return made;
}

uint64_t units_per_bin(const Units& units) {
  return std::max<uint64_t>(1, (units.units().size() + kMostBins - 1) / kMostBins);
}

profile::Heat make_heat(const MeasuredJob& job) {
  const Units& units = job.units;
  profile::Heat heat;
  heat.steps_per_bin = units_per_bin(units);
  const size_t bins = (units.units().size() + heat.steps_per_bin - 1) / heat.steps_per_bin;
  for (uint32_t part = 0; part < job.parts.size(); ++part) {
    profile::HeatRow row;
    row.rank = job.parts[part].identity.rank;
    std::vector<double> wall(bins, 0);
    std::vector<uint64_t> number(bins, 0);
    for (uint32_t unit = 0; unit < units.units().size(); ++unit) {
      const uint32_t own = units.row(unit, part);
      if (own == kNoRow) continue;
      wall[unit / heat.steps_per_bin] +=
          static_cast<double>(own_wall(job.parts[part], units, unit, own));
      ++number[unit / heat.steps_per_bin];
    }
    for (size_t bin = 0; bin < bins; ++bin) {
      const auto n = static_cast<double>(number[bin]);
      const double wait = job.waits.by_bin[part][bin];
      row.wall_ms.push_back(
          n == 0 ? -1 : std::max(0.0, wall[bin] - wait) / n / kNanosecondsPerMillisecond);
      row.wait_ms.push_back(n == 0 ? -1 : wait / n / kNanosecondsPerMillisecond);
    }
    heat.rows.push_back(std::move(row));
  }
  std::ranges::sort(heat.rows, {}, &profile::HeatRow::rank);
  return heat;
}

}  // namespace llmprof::job
