#include "job/stragglers/stragglers.h"

#include <algorithm>

#include "analysis/statistics/statistics.h"
#include "job/job_clock.h"
#include "job/stragglers/cause.h"

namespace llmprof::job {
namespace {

using analysis::Collectives;
using profile::FindingValues;
using profile::make_reason;
using profile::ReasonKind;

constexpr double kClearShareOfWall = 0.02;  // of the stage's wall time: worth telling
constexpr double kAheadOfSecond = 1.5;      // of the rank that causes the second longest waits
// A single delay: far above what is usual, and long for a step.
constexpr double kTimesUsual = 10;
constexpr double kShareOfUnit = 0.05;
constexpr double kLongDelay = 0.5e6;     // ns, however long the step is
constexpr double kShortestDelay = 20e3;  // ns
constexpr double kSingleAheadOfSecond = 2;
// Delays that are nearly all of the wait, in few collectives.
constexpr double kNearlyAlways = 0.8;
constexpr double kFew = 0.1;
constexpr double kSlowerSteps = 0.05;
constexpr double kMostSteps = 0.6;

// One rank in one stage.
struct Waited {
  double longest = 0;  // sum of the longest waits for it
  double all = 0;      // of all ranks that waited
  uint64_t last = 0;   // collectives in which it came last
  // Where it came last, against the mean of the others.
  double busy_longer = 0;
  double launched_later = 0;
  bool launches_known = true;
  double busy = 0;       // before all collectives of the stage
  uint64_t matches = 0;  // that it took part in

  void add(double longest_wait, double waits, double busy_more,
           const std::optional<double>& launched) {
    longest += longest_wait;
    all += waits;
    ++last;
    busy_longer += busy_more;
    launches_known = launches_known && launched.has_value();
    launched_later += launched.value_or(0);
  }
};

struct StageWaits {
  uint64_t matches = 0;
  PackedTimes longest;  // of each match
  std::vector<Waited> by_part;
  std::vector<Waited> single;  // delays alone
  std::vector<double> longest_single;
  double single_limit = 0;
  Nanoseconds first = 0;  // on the job's clock: where there are no stages
  Nanoseconds last = 0;
};

class StragglerSearch {
 public:
  StragglerSearch(const std::vector<RankPart>& parts, const std::vector<MatchedLane>& lanes,
                  const std::vector<uint8_t>& in_pipeline,
                  const std::vector<profile::RankClock>& clocks, const Units& units,
                  const Waits& waits)
      : parts_(parts),
        lanes_(lanes),
        in_pipeline_(in_pipeline),
        clocks_(clocks.begin(), clocks.end()),
        units_(units),
        waits_(waits) {
    // The last one is of what is in no stage, told where there are no stages at all.
    stages_.resize(units.stages().size() + 1);
    for (StageWaits& stage : stages_) {
      stage.by_part.resize(parts.size());
      stage.single.resize(parts.size());
      stage.longest_single.resize(parts.size(), 0);
    }
    peers_.assign(parts.size(), std::vector<uint8_t>(parts.size(), 0));
    for (const MatchedLane& lane : lanes) {
      if (lane.size() == 0 || in_pipeline[lane.group] != 0) continue;
      for (const uint32_t a : lane.parts) {
        for (const uint32_t b : lane.parts) peers_[a][b] = a != b ? 1 : 0;
      }
    }
  }

  std::vector<profile::Straggler> find() {
    each_match([&](StageWaits& stage, const MatchedLane& lane, size_t match,
                   const MatchTimes& times) { note_wait(stage, lane, match, times); });
    for (uint32_t i = 0; i < stages_.size(); ++i) stages_[i].single_limit = single_limit(i);
    each_match([&](StageWaits& stage, const MatchedLane& lane, size_t match,
                   const MatchTimes& times) { compare(stage, lane, match, times); });
    std::vector<profile::Straggler> found;
    for (uint32_t i = 0; i < stages_.size(); ++i) {
      if (is_outside(i) && !units_.units().empty()) continue;
      if (stages_[i].matches > 0) {
        add_waited_for(i, found);
      } else if (!is_outside(i)) {
        add_slower(i, found);
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.wait_total > b.wait_total; });
    return found;
  }

 private:
  [[nodiscard]] bool is_outside(uint32_t stage) const { return stage == units_.stages().size(); }

  template <class Visit>
  void each_match(const Visit& visit) {
    for (size_t number = 0; number < lanes_.size(); ++number) {
      const MatchedLane& lane = lanes_[number];
      if (in_pipeline_[lane.group] != 0) continue;
      for (size_t match = 0; match < lane.size(); ++match) {
        const uint32_t unit = units_.unit_of(lane.parts[0], lane.row(match, 0));
        if (unit == Units::kNotCommon) continue;
        if (unit != Units::kOutside && !units_.units()[unit].counted) continue;
        const MatchTimes times = waits_.matches[number][match];
        visit(
            stages_[unit == Units::kOutside ? units_.stages().size() : units_.units()[unit].stage],
            lane, match, times);
      }
    }
  }

  void note_wait(StageWaits& stage, const MatchedLane& lane, size_t match,
                 const MatchTimes& times) const {
    stage.first = stage.matches == 0 ? times.arrival : std::min(stage.first, times.arrival);
    stage.last = std::max(stage.last, times.end);
    ++stage.matches;
    stage.longest.push_back(times.longest_wait);
    for (size_t k = 0; k < lane.parts.size(); ++k) {
      Waited& rank = stage.by_part[lane.parts[k]];
      const PackedCollectives& of = parts_[lane.parts[k]].collectives;
      rank.busy += static_cast<double>(of.busy_before(lane.row(match, k)));
      ++rank.matches;
    }
  }

  // Of the stage's units; of the whole timeline where there are none.
  [[nodiscard]] double wall(uint32_t stage) const {
    if (!is_outside(stage)) return static_cast<double>(units_.wall(stage));
    return static_cast<double>(stages_[stage].last - stages_[stage].first);
  }
  [[nodiscard]] double steps(uint32_t stage) const {
    return is_outside(stage) ? 1 : std::max(1.0, static_cast<double>(units_.counted(stage)));
  }

  [[nodiscard]] double single_limit(uint32_t stage) const {
    std::vector<Nanoseconds> longest = stages_[stage].longest.unpacked();
    if (longest.empty()) return 0;
    const auto usual = static_cast<double>(analysis::nearest_rank(longest, 0.5));
    const double of_unit = kShareOfUnit * wall(stage) / steps(stage);
    return std::max({kTimesUsual * usual, std::min(of_unit, kLongDelay), kShortestDelay});
  }

  void compare(StageWaits& stage, const MatchedLane& lane, size_t match,
               const MatchTimes& times) const {
    double busy = 0;
    double launched = 0;
    bool launches_known = true;
    for (size_t k = 0; k < lane.parts.size(); ++k) {
      const PackedCollectives& of = parts_[lane.parts[k]].collectives;
      const uint32_t row = lane.row(match, k);
      const Nanoseconds call = of.launched(row);
      launches_known = launches_known && call != Collectives::kNotKnown;
      if (k == times.last) continue;
      busy += static_cast<double>(of.busy_before(row));
      if (launches_known) {
        launched += static_cast<double>(clocks_[lane.parts[k]].job_time(call) - times.arrival);
      }
    }
    const auto others = static_cast<double>(lane.parts.size() - 1);
    const uint32_t last = lane.parts[times.last];
    const PackedCollectives& of = parts_[last].collectives;
    const uint32_t row = lane.row(match, times.last);
    const double busy_more = static_cast<double>(of.busy_before(row)) - busy / others;
    std::optional<double> later;
    if (launches_known) {
      later = static_cast<double>(clocks_[last].job_time(of.launched(row)) - times.arrival) -
              launched / others;
    }
    const auto longest = static_cast<double>(times.longest_wait);
    const auto all = static_cast<double>(times.all_waits);
    stage.by_part[last].add(longest, all, busy_more, later);
    if (longest < stage.single_limit) return;
    stage.single[last].add(longest, all, busy_more, later);
    stage.longest_single[last] = std::max(stage.longest_single[last], longest);
  }

  // Of the ranks that communicate with this one.
  [[nodiscard]] double second(const std::vector<Waited>& waited, uint32_t part) const {
    double longest = 0;
    for (uint32_t other = 0; other < waited.size(); ++other) {
      if (peers_[part][other] != 0) longest = std::max(longest, waited[other].longest);
    }
    return longest;
  }

  void add_waited_for(uint32_t number, std::vector<profile::Straggler>& found) const {
    const StageWaits& stage = stages_[number];
    std::vector<uint8_t> told(parts_.size(), 0);
    for (uint32_t part = 0; part < parts_.size(); ++part) {
      const Waited& all = stage.by_part[part];
      const Waited& single = stage.single[part];
      if (all.longest < kClearShareOfWall * wall(number) ||
          all.longest < kAheadOfSecond * second(stage.by_part, part)) {
        continue;
      }
      const bool in_few = single.last > 0 && single.longest >= kNearlyAlways * all.longest &&
                          static_cast<double>(single.last) <=
                              std::max(1.0, kFew * static_cast<double>(all.matches));
      found.push_back(straggler(number, part, in_few ? single : all, in_few));
      told[part] = 1;
      for (uint32_t other = 0; other < parts_.size(); ++other) {
        if (peers_[part][other] != 0) told[other] = 1;
      }
    }
    for (uint32_t part = 0; part < parts_.size(); ++part) {
      const Waited& delays = stage.single[part];
      if (told[part] != 0 || delays.last == 0 ||
          delays.longest < kSingleAheadOfSecond * second(stage.single, part)) {
        continue;
      }
      found.push_back(straggler(number, part, delays, true));
    }
  }

  [[nodiscard]] profile::Straggler straggler(uint32_t number, uint32_t part, const Waited& waited,
                                             bool single) const {
    const StageWaits& stage = stages_[number];
    RankAgainstOthers rank = told_by_profile(number, part);
    const double n = steps(number);
    rank.wait = waited.longest / n;
    rank.busy_longer = waited.busy_longer / n;
    if (waited.launches_known) rank.launched_later = waited.launched_later / n;
    rank.busy = stage.by_part[part].busy / n;
    rank.busy_of_others = busy_of_others(stage, part) / n;
    Cause cause = find_cause(rank);
    profile::Straggler made;
    made.rank = parts_[part].identity.rank;
    made.stage = is_outside(number) ? std::string() : units_.stages()[number];
    made.cause = cause.cause;
    made.wait_per_step = profile::to_milliseconds(rank.wait);
    made.wait_total = profile::to_milliseconds(waited.all);
    if (wall(number) > 0) made.share_of_step = profile::Share{waited.longest / wall(number)};
    made.last_share = profile::Share{static_cast<double>(stage.by_part[part].last) /
                                     static_cast<double>(stage.by_part[part].matches)};
    if (single) {
      FindingValues values;
      values.add_number("delays", static_cast<double>(waited.last))
          .add("longest", profile::to_milliseconds(stage.longest_single[part]));
      made.why.push_back(make_reason(ReasonKind::rank_single_delays, std::move(values)));
    }
    made.why.push_back(std::move(cause.why));
    return made;
  }

  [[nodiscard]] double busy_of_others(const StageWaits& stage, uint32_t part) const {
    double sum = 0;
    double number = 0;
    for (uint32_t other = 0; other < parts_.size(); ++other) {
      if (peers_[part][other] == 0 || stage.by_part[other].matches == 0) continue;
      sum += stage.by_part[other].busy;
      number += 1;
    }
    return number > 0 ? sum / number : 0;
  }

  // Tokens per step and SM clock; the median of the others.
  [[nodiscard]] RankAgainstOthers told_by_profile(uint32_t number, uint32_t part) const {
    RankAgainstOthers rank;
    rank.by_step = !is_outside(number);
    rank.on_cpu = parts_[part].profile.context.device_kind == profile::DeviceKind::cpu;
    if (!rank.by_step) return rank;
    std::vector<double> tokens;
    std::vector<double> clocks;
    for (uint32_t other = 0; other < parts_.size(); ++other) {
      const auto tokens_of_rank = tokens_per_step(number, other);
      const auto clock_of_rank = sm_clock(number, other);
      if (other == part) {
        rank.tokens = tokens_of_rank;
        rank.clock = clock_of_rank;
        continue;
      }
      if (tokens_of_rank) tokens.push_back(*tokens_of_rank);
      if (clock_of_rank) clocks.push_back(*clock_of_rank);
    }
    rank.tokens_of_others = median(tokens);
    rank.clock_of_others = median(clocks);
    return rank;
  }

  static std::optional<double> median(std::vector<double>& values) {
    if (values.empty()) return std::nullopt;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  [[nodiscard]] std::optional<double> tokens_per_step(uint32_t number, uint32_t part) const {
    double sum = 0;
    double steps = 0;
    for (uint32_t unit = 0; unit < units_.units().size(); ++unit) {
      if (units_.units()[unit].stage != number || !units_.units()[unit].counted) continue;
      const uint32_t row = units_.row(unit, part);
      if (row == kNoRow) return std::nullopt;
      const auto tokens = own_tokens(parts_[part], units_, unit, row);
      if (!tokens) return std::nullopt;
      sum += static_cast<double>(*tokens);
      steps += 1;
    }
    if (steps == 0) return std::nullopt;
    return sum / steps;
  }

  [[nodiscard]] std::optional<double> sm_clock(uint32_t number, uint32_t part) const {
    const profile::Stage* stage = stage_of_part(parts_[part], units_.stages()[number]);
    if (stage == nullptr || !stage->measured || !stage->measured->sm_clock) return std::nullopt;
    return stage->measured->sm_clock->mean.value;
  }

  struct OwnTimes {
    uint32_t part = 0;
    double wall = 0;
    double busy = 0;
  };

  // Ranks that do not wait for each other, but whose steps are the job's together.
  void add_slower(uint32_t number, std::vector<profile::Straggler>& found) const {
    std::vector<OwnTimes> times;
    for (uint32_t part = 0; part < parts_.size(); ++part) {
      if (stage_of_part(parts_[part], units_.stages()[number]) != nullptr) {
        times.push_back({part, 0, 0});
      }
    }
    if (times.size() < 2 || units_.counted(number) == 0) return;
    std::vector<uint64_t> slowest(times.size(), 0);
    for (uint32_t unit = 0; unit < units_.units().size(); ++unit) {
      if (units_.units()[unit].stage != number || !units_.units()[unit].counted) continue;
      size_t longest = 0;
      double longest_wall = -1;
      for (size_t i = 0; i < times.size(); ++i) {
        const RankPart& part = parts_[times[i].part];
        const uint32_t row = units_.row(unit, times[i].part);
        const auto wall = static_cast<double>(own_wall(part, units_, unit, row));
        times[i].wall += wall;
        times[i].busy += static_cast<double>(own_busy(part, units_, unit, row));
        if (wall <= longest_wall) continue;
        longest_wall = wall;
        longest = i;
      }
      ++slowest[longest];
    }
    add_slowest(number, times, slowest, found);
  }

  void add_slowest(uint32_t number, const std::vector<OwnTimes>& times,
                   const std::vector<uint64_t>& slowest,
                   std::vector<profile::Straggler>& found) const {
    const double n = steps(number);
    const auto longest = static_cast<size_t>(
        std::max_element(times.begin(), times.end(),
                         [](const auto& a, const auto& b) { return a.wall < b.wall; }) -
        times.begin());
    const OwnTimes& slow = times[longest];
    double others_wall = 0;
    double others_busy = 0;
    double fastest = slow.wall;
    for (size_t i = 0; i < times.size(); ++i) {
      if (i == longest) continue;
      others_wall += times[i].wall;
      others_busy += times[i].busy;
      fastest = std::min(fastest, times[i].wall);
    }
    const auto others = static_cast<double>(times.size() - 1);
    const double share = static_cast<double>(slowest[longest]) / n;
    if (slow.wall < (1 + kSlowerSteps) * others_wall / others || share < kMostSteps) return;
    RankAgainstOthers rank = told_by_profile(number, slow.part);
    rank.wait = (slow.wall - others_wall / others) / n;
    rank.busy = slow.busy / n;
    rank.busy_of_others = others_busy / others / n;
    rank.busy_longer = rank.busy - rank.busy_of_others;
    // What is longer and not busy is idle: the device waits for its host.
    rank.launched_later = rank.wait - rank.busy_longer;
    Cause cause = find_cause(rank);
    profile::Straggler made;
    made.rank = parts_[slow.part].identity.rank;
    made.stage = units_.stages()[number];
    made.cause = cause.cause;
    made.wait_per_step = profile::to_milliseconds((slow.wall - fastest) / n);
    made.wait_total = profile::to_milliseconds(slow.wall * others - others_wall);
    if (wall(number) > 0) {
      made.share_of_step = profile::Share{(slow.wall - fastest) / wall(number)};
    }
    made.last_share = profile::Share{share};
    FindingValues values;
    values.add("step", profile::to_milliseconds(slow.wall / n))
        .add("step_of_others", profile::to_milliseconds(others_wall / others / n));
    made.why.push_back(make_reason(ReasonKind::rank_slower_steps, std::move(values)));
    made.why.push_back(std::move(cause.why));
    found.push_back(std::move(made));
  }

  const std::vector<RankPart>& parts_;
  const std::vector<MatchedLane>& lanes_;
  const std::vector<uint8_t>& in_pipeline_;
  std::vector<JobClock> clocks_;  // by part
  const Units& units_;
  const Waits& waits_;
  std::vector<StageWaits> stages_;
  std::vector<std::vector<uint8_t>> peers_;  // by part: those with collectives in common
};

}  // namespace

std::vector<profile::Straggler> find_stragglers(const std::vector<RankPart>& parts,
                                                const std::vector<MatchedLane>& lanes,
                                                const std::vector<uint8_t>& in_pipeline,
                                                const std::vector<profile::RankClock>& clocks,
                                                const Units& units, const Waits& waits) {
  return StragglerSearch(parts, lanes, in_pipeline, clocks, units, waits).find();
}

}  // namespace llmprof::job
