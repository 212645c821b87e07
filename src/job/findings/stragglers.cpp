#include "job/findings/job_findings.h"

#include <algorithm>
#include <cmath>

#include "base/quantiles.h"
#include "job/job_clock.h"

namespace llmprof::job {
namespace {

using analysis::Collectives;
using profile::FindingValues;
using profile::make_reason;
using profile::ReasonKind;

constexpr double kClearShareOfWall = 0.02;  // share of the stage's wall time worth naming
constexpr double kAheadOfSecond = 1.5;      // times the waits for the second rank
// A single delay is far above the usual ones and long for a step.
constexpr double kTimesUsual = 10;
constexpr double kShareOfUnit = 0.05;
constexpr double kLongDelay = 0.5e6;     // ns, however long the step is
constexpr double kShortestDelay = 20e3;  // ns
constexpr double kSingleAheadOfSecond = 2;
// Delays that make up nearly all of the wait, in few collectives.
constexpr double kNearlyAlways = 0.8;
constexpr double kFew = 0.1;

// Where ranks meet: in a collective or, in a stage without matched collectives, at the end of a
// step that all ranks start together.
struct Meeting {
  struct OfRank {
    uint32_t part = 0;
    double busy = 0;                 // since the previous meeting, ns
    std::optional<double> launched;  // ns; later than others means late
    double wall = 0;                 // of its step
  };
  std::vector<OfRank> ranks;
  size_t last = 0;  // index in ranks
  double longest_wait = 0;
  double all_waits = 0;
  Nanoseconds arrival = 0;  // of the last rank, on the job's clock; `end` too
  Nanoseconds end = 0;
};

// One rank in one stage.
struct RankWaits {
  double longest = 0;  // sum of the longest waits for it
  double all = 0;      // sum over all ranks that waited
  uint64_t last = 0;   // meetings at which it arrived last
  // In meetings at which it arrived last, compared with the mean of the others.
  double busy_longer = 0;
  double launched_later = 0;
  bool launches_known = true;
  // In all meetings.
  double busy = 0;
  double wall = 0;
  uint64_t meetings = 0;
};

struct StageWaits {
  bool by_collectives = false;
  uint64_t meetings = 0;
  PackedTimes longest;  // longest wait of each meeting
  std::vector<RankWaits> by_part;
  std::vector<RankWaits> single;  // single delays only
  std::vector<double> longest_single;
  double single_limit = 0;
  Nanoseconds first = 0;  // on the job's clock; used without stages
  Nanoseconds last = 0;
};

class StragglerSearch {
 public:
  StragglerSearch(const MeasuredJob& job, const RankComparison& comparison)
      : parts_(job.parts),
        lanes_(job.matched),
        comparison_(comparison),
        clocks_(comparison.clocks.begin(), comparison.clocks.end()),
        units_(job.units),
        waits_(job.waits) {
    // The last entry is for time outside stages, reported only if there are no stages at all.
    stages_.resize(units_.stages().size() + 1);
    for (StageWaits& stage : stages_) {
      stage.by_part.resize(parts_.size());
      stage.single.resize(parts_.size());
      stage.longest_single.resize(parts_.size(), 0);
    }
    peers_.assign(parts_.size(), std::vector<uint8_t>(parts_.size(), 0));
    for (const MatchedLane& lane : lanes_) {
      if (lane.size() == 0 || is_of_pipeline(lane)) continue;
      for (const uint32_t a : lane.parts) {
        for (const uint32_t b : lane.parts) peers_[a][b] = a != b ? 1 : 0;
      }
    }
  }

  std::vector<profile::Straggler> find() {
    each_meeting([&](StageWaits& stage, const Meeting& meeting) { note(stage, meeting); });
    for (uint32_t i = 0; i < stages_.size(); ++i) stages_[i].single_limit = single_limit(i);
    each_meeting([&](StageWaits& stage, const Meeting& meeting) { compare(stage, meeting); });
    std::vector<profile::Straggler> found;
    for (uint32_t i = 0; i < stages_.size(); ++i) {
      if (!is_outside(i) || units_.units().empty()) add_stragglers(i, found);
    }
    std::ranges::stable_sort(found, std::greater{}, &profile::Straggler::wait_total);
    return found;
  }

 private:
  [[nodiscard]] bool is_outside(uint32_t stage) const { return stage == units_.stages().size(); }

  [[nodiscard]] bool is_of_pipeline(const MatchedLane& lane) const {
    return comparison_.job.groups[lane.group].parallelism == profile::Parallelism::pipeline;
  }

  template <class Visit>
  void each_meeting(const Visit& visit) {
    for (size_t number = 0; number < lanes_.size(); ++number) {
      const MatchedLane& lane = lanes_[number];
      if (is_of_pipeline(lane)) continue;
      for (size_t match = 0; match < lane.size(); ++match) {
        const uint32_t unit = units_.unit_of(lane.parts[0], lane.row(match, 0));
        if (unit == Units::kNotCommon) continue;
        if (unit != Units::kOutside && !units_.units()[unit].counted) continue;
        StageWaits& stage =
            stages_[unit == Units::kOutside ? units_.stages().size() : units_.units()[unit].stage];
        stage.by_collectives = true;
        read_match(lane, match, waits_.matches[number][match]);
        visit(stage, meeting_);
      }
    }
    for (uint32_t unit = 0; unit < units_.units().size(); ++unit) {
      StageWaits& stage = stages_[units_.units()[unit].stage];
      if (stage.by_collectives || !units_.units()[unit].counted) continue;
      read_unit(unit);
      if (meeting_.ranks.size() > 1) visit(stage, meeting_);
    }
  }

  void read_match(const MatchedLane& lane, size_t match, const MatchTimes& times) {
    meeting_.ranks.resize(lane.parts.size());
    for (size_t k = 0; k < lane.parts.size(); ++k) {
      const PackedCollectives& of = parts_[lane.parts[k]].collectives;
      const uint32_t row = lane.row(match, k);
      Meeting::OfRank& rank = meeting_.ranks[k];
      rank = {lane.parts[k], static_cast<double>(of.busy_before(row)), std::nullopt, 0};
      if (const Nanoseconds call = of.launched(row); call != Collectives::kNotKnown) {
        rank.launched = static_cast<double>(clocks_[lane.parts[k]].job_time(call) - times.arrival);
      }
    }
    meeting_.last = times.last;
    meeting_.longest_wait = static_cast<double>(times.longest_wait);
    meeting_.all_waits = static_cast<double>(times.all_waits);
    meeting_.arrival = times.arrival;
    meeting_.end = times.end;
  }

  // Ranks that do not wait for each other but share the job's steps. Additional time without work
  // is idle: the device waits for its host.
  void read_unit(uint32_t unit) {
    meeting_ = {};
    for (uint32_t part = 0; part < parts_.size(); ++part) {
      const uint32_t row = units_.row(unit, part);
      if (row == kNoRow) continue;
      const auto wall = static_cast<double>(own_wall(parts_[part], units_, unit, row));
      const auto busy = static_cast<double>(own_busy(parts_[part], units_, unit, row));
      meeting_.ranks.push_back({part, busy, wall - busy, wall});
      if (wall > meeting_.ranks[meeting_.last].wall) meeting_.last = meeting_.ranks.size() - 1;
    }
    for (const Meeting::OfRank& rank : meeting_.ranks) {
      const double wait = meeting_.ranks[meeting_.last].wall - rank.wall;
      meeting_.longest_wait = std::max(meeting_.longest_wait, wait);
      meeting_.all_waits += wait;
    }
  }

  void note(StageWaits& stage, const Meeting& meeting) {
    stage.first = stage.meetings == 0 ? meeting.arrival : std::min(stage.first, meeting.arrival);
    stage.last = std::max(stage.last, meeting.end);
    ++stage.meetings;
    stage.longest.push_back(std::llround(meeting.longest_wait));
    for (const Meeting::OfRank& rank : meeting.ranks) {
      RankWaits& known = stage.by_part[rank.part];
      known.busy += rank.busy;
      known.wall += rank.wall;
      ++known.meetings;
      if (stage.by_collectives) continue;
      for (const Meeting::OfRank& other : meeting.ranks) {
        if (other.part != rank.part) peers_[rank.part][other.part] = 1;
      }
    }
  }

  // Wall time of the stage's units, or of the whole timeline if there are none.
  [[nodiscard]] double wall(uint32_t stage) const {
    if (!is_outside(stage)) return static_cast<double>(units_.wall(stage));
    return static_cast<double>(stages_[stage].last - stages_[stage].first);
  }
  [[nodiscard]] double steps(uint32_t stage) const {
    return is_outside(stage) ? 1 : std::max(1.0, static_cast<double>(units_.counted(stage)));
  }

  [[nodiscard]] double single_limit(uint32_t stage) const {
    std::vector<Nanoseconds> longest = stages_[stage].longest.unpacked();
    if (longest.empty() || !stages_[stage].by_collectives) return INFINITY;
    const auto usual = static_cast<double>(median(std::span(longest)));
    const double of_unit = kShareOfUnit * wall(stage) / steps(stage);
    return std::max({kTimesUsual * usual, std::min(of_unit, kLongDelay), kShortestDelay});
  }

  // Compares the last rank with the mean of the others.
  static void compare(StageWaits& stage, const Meeting& meeting) {
    const Meeting::OfRank& last = meeting.ranks[meeting.last];
    double busy = 0;
    double launched = 0;
    bool launches_known = true;
    for (const Meeting::OfRank& rank : meeting.ranks) {
      launches_known = launches_known && rank.launched;
      if (&rank == &last) continue;
      busy += rank.busy;
      launched += rank.launched.value_or(0);
    }
    const auto others = static_cast<double>(meeting.ranks.size() - 1);
    const bool single = meeting.longest_wait >= stage.single_limit;
    for (auto* into : {&stage.by_part, &stage.single}) {
      if (into == &stage.single && !single) continue;
      RankWaits& waits = (*into)[last.part];
      waits.longest += meeting.longest_wait;
      waits.all += meeting.all_waits;
      ++waits.last;
      waits.busy_longer += last.busy - busy / others;
      waits.launches_known = waits.launches_known && launches_known;
      if (launches_known) waits.launched_later += *last.launched - launched / others;
    }
    if (!single) return;
    double& longest = stage.longest_single[last.part];
    longest = std::max(longest, meeting.longest_wait);
  }

  // Longest waits among the ranks that this one meets.
  [[nodiscard]] double second(const std::vector<RankWaits>& waits, uint32_t part) const {
    double longest = 0;
    for (uint32_t other = 0; other < waits.size(); ++other) {
      if (peers_[part][other] != 0) longest = std::max(longest, waits[other].longest);
    }
    return longest;
  }

  // The waits for a rank are clear if they are long and ahead of those for any rank that it meets.
  // A rank that meets none with clear waits may still have single delays.
  void add_stragglers(uint32_t number, std::vector<profile::Straggler>& found) const {
    const StageWaits& stage = stages_[number];
    std::vector<uint8_t> is_clear(parts_.size(), 0);
    for (uint32_t part = 0; part < parts_.size(); ++part) {
      const double longest = stage.by_part[part].longest;
      is_clear[part] = longest > 0 && longest >= kClearShareOfWall * wall(number) &&
                       longest >= kAheadOfSecond * second(stage.by_part, part);
    }
    for (uint32_t part = 0; part < parts_.size(); ++part) {
      const RankWaits& all = stage.by_part[part];
      const RankWaits& single = stage.single[part];
      const bool one_by_one = is_clear[part] != 0 ? is_mostly(single, all)
                                                  : !meets(part, is_clear) && leads(stage, part);
      if (is_clear[part] == 0 && !one_by_one) continue;
      found.push_back(straggler(number, part, one_by_one ? single : all, one_by_one));
    }
  }

  // Whether few delays make up nearly all of the waits for a rank.
  static bool is_mostly(const RankWaits& single, const RankWaits& all) {
    return single.last > 0 && single.longest >= kNearlyAlways * all.longest &&
           static_cast<double>(single.last) <=
               std::max(1.0, kFew * static_cast<double>(all.meetings));
  }
  // Whether its single delays are far ahead of those of any rank that it meets.
  [[nodiscard]] bool leads(const StageWaits& stage, uint32_t part) const {
    return stage.single[part].last > 0 &&
           stage.single[part].longest >= kSingleAheadOfSecond * second(stage.single, part);
  }
  [[nodiscard]] bool meets(uint32_t part, const std::vector<uint8_t>& ranks) const {
    for (uint32_t other = 0; other < ranks.size(); ++other) {
      if (peers_[part][other] != 0 && ranks[other] != 0) return true;
    }
    return false;
  }

  [[nodiscard]] profile::Straggler straggler(uint32_t number, uint32_t part, const RankWaits& waits,
                                             bool single) const {
    const StageWaits& stage = stages_[number];
    const RankWaits& all = stage.by_part[part];
    RankAgainstOthers rank = figures_of(number, part);
    const double n = steps(number);
    rank.wait = waits.longest / n;
    rank.busy_longer = waits.busy_longer / n;
    if (waits.launches_known) rank.launched_later = waits.launched_later / n;
    rank.busy = all.busy / n;
    rank.busy_of_others = mean_of_others(stage, part, &RankWaits::busy) / n;
    Cause cause = find_cause(rank);
    profile::Straggler made;
    made.rank = parts_[part].identity.rank;
    made.stage = is_outside(number) ? std::string() : units_.stages()[number];
    made.cause = cause.cause;
    made.wait_per_step = profile::to_milliseconds(rank.wait);
    made.wait_total = profile::to_milliseconds(waits.all);
    if (wall(number) > 0) made.share_of_step = profile::Share{waits.longest / wall(number)};
    made.last_share =
        profile::Share{static_cast<double>(all.last) / static_cast<double>(all.meetings)};
    FindingValues values;
    if (single) {
      values.add("delays", waits.last)
          .add("longest", profile::to_milliseconds(stage.longest_single[part]));
      made.why.push_back(make_reason(ReasonKind::rank_single_delays, std::move(values)));
    } else if (!stage.by_collectives) {
      const double of_others = mean_of_others(stage, part, &RankWaits::wall);
      values.add("step", profile::to_milliseconds(all.wall / n))
          .add("step_of_others", profile::to_milliseconds(of_others / n));
      made.why.push_back(make_reason(ReasonKind::rank_slower_steps, std::move(values)));
    }
    made.why.push_back(std::move(cause.why));
    return made;
  }

  [[nodiscard]] double mean_of_others(const StageWaits& stage, uint32_t part,
                                      double RankWaits::* figure) const {
    double sum = 0;
    double number = 0;
    for (uint32_t other = 0; other < parts_.size(); ++other) {
      if (peers_[part][other] == 0 || stage.by_part[other].meetings == 0) continue;
      sum += stage.by_part[other].*figure;
      number += 1;
    }
    return number > 0 ? sum / number : 0;
  }

  // Tokens per step and SM clock, next to the median of the others.
  [[nodiscard]] RankAgainstOthers figures_of(uint32_t number, uint32_t part) const {
    RankAgainstOthers rank;
    rank.by_step = !is_outside(number);
    rank.on_cpu = parts_[part].profile.context.device_kind == profile::DeviceKind::cpu;
    if (!rank.by_step) return rank;
    std::vector<double> tokens;
    std::vector<double> clocks;
    for (uint32_t other = 0; other < parts_.size(); ++other) {
      const profile::RankStage* own =
          stage_of(comparison_.per_rank[other], units_.stages()[number]);
      if (own == nullptr) continue;
      const auto note = [&](double figure, std::optional<double>& of_rank,
                            std::vector<double>& of_others) {
        if (other == part) of_rank = figure;
        if (other != part) of_others.push_back(figure);
      };
      if (own->tokens) {
        note(static_cast<double>(*own->tokens) / static_cast<double>(own->steps), rank.tokens,
             tokens);
      }
      if (own->sm_clock) note(own->sm_clock->value, rank.clock, clocks);
    }
    if (!tokens.empty()) rank.tokens_of_others = median(std::span(tokens));
    if (!clocks.empty()) rank.clock_of_others = median(std::span(clocks));
    return rank;
  }

  const std::vector<RankPart>& parts_;
  const std::vector<MatchedLane>& lanes_;
  const RankComparison& comparison_;
  std::vector<JobClock> clocks_;  // by part
  const Units& units_;
  const Waits& waits_;
  Meeting meeting_;  // reused: there are millions
  std::vector<StageWaits> stages_;
  std::vector<std::vector<uint8_t>> peers_;  // by part: ranks that it meets
};

}  // namespace

std::vector<profile::Straggler> find_stragglers(const MeasuredJob& job,
                                                const RankComparison& comparison) {
  return StragglerSearch(job, comparison).find();
}

}  // namespace llmprof::job
