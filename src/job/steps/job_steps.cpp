#include "job/steps/job_steps.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "job/clock/align_clocks.h"

namespace llmprof::job {
namespace {

// A part's steps in a stage, or its instances if it has no steps there.
struct UnitsOfPart {
  uint32_t part = 0;
  std::vector<uint32_t> rows = {};
  std::vector<Nanoseconds> start = {};  // on the job's clock
  std::vector<Nanoseconds> end = {};
  int64_t shift = 0;  // place in rows minus place in the rows of the stage's first part
};

// All parts that have the stage, by rank part.
struct StageUnits {
  const std::string* stage = nullptr;
  bool by_step = false;
  std::vector<UnitsOfPart> parts;
};

class StepMaker {
 public:
  StepMaker(const std::vector<RankPart>& parts, const std::vector<profile::RankClock>& clocks,
            const std::vector<SameSteps>& same)
      : parts_(parts), clocks_(clocks), same_(same) {}

  JobSteps make() {
    reference_ = parts_.empty() ? 0 : reference_part(parts_);
    const auto names = job_stage_names(parts_);
    for (const std::string& name : names) add_stage(name);
    std::ranges::stable_sort(made_.instances, {}, &JobInstance::start);
    std::ranges::stable_sort(made_.steps, {}, &JobStep::start);
    return std::move(made_);
  }

 private:
  [[nodiscard]] bool has_clock(uint32_t part) const {
    return clocks_[part].method != profile::ClockMethod::none;
  }

  // The reference comes first, so that places are relative to it.
  [[nodiscard]] StageUnits units_of(const std::string& name) const {
    StageUnits units;
    units.stage = &name;
    units.by_step = true;
    std::vector<uint32_t> order(parts_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_partition(order, [&](uint32_t part) { return part == reference_; });
    for (const uint32_t part : order) {
      if (find_stage(parts_[part].profile, name) == nullptr) continue;
      UnitsOfPart of = steps_of(part, name);
      if (of.rows.empty()) units.by_step = false;
      units.parts.push_back(std::move(of));
    }
    if (!units.by_step) {
      for (UnitsOfPart& of : units.parts) of = instances_of(of.part, name);
    }
    return units;
  }

  void add_unit(uint32_t row, Nanoseconds start, Nanoseconds end, UnitsOfPart& of) const {
    of.rows.push_back(row);
    of.start.push_back(job_time(clocks_[of.part], start));
    of.end.push_back(job_time(clocks_[of.part], end));
  }

  [[nodiscard]] UnitsOfPart steps_of(uint32_t part, const std::string& name) const {
    UnitsOfPart of{part};
    const RankPart& from = parts_[part];
    const size_t known = std::min(from.steps.size(), from.step_start.size());
    for (uint32_t row = 0; row < known; ++row) {
      if (from.steps.stage(row) != name) continue;
      add_unit(row, from.step_start[row], from.step_end[row], of);
    }
    return of;
  }

  [[nodiscard]] UnitsOfPart instances_of(uint32_t part, const std::string& name) const {
    UnitsOfPart of{part};
    const auto& instances = find_stage(parts_[part].profile, name)->instances;
    for (uint32_t row = 0; row < instances.size(); ++row) {
      const Nanoseconds start = instances[row].start_ns.value;
      add_unit(row, start, start + profile::to_nanoseconds(instances[row].wall), of);
    }
    return of;
  }

  // Place of each step among the steps of this stage; kNoRow for other steps.
  [[nodiscard]] static std::vector<uint32_t> places(const UnitsOfPart& of, size_t steps) {
    std::vector<uint32_t> place(steps, kNoRow);
    for (uint32_t i = 0; i < of.rows.size(); ++i) place[of.rows[i]] = i;
    return place;
  }

  // The most frequent difference of places; none if no step of this stage is in both.
  static std::optional<int64_t> voted(const SameSteps& same, const std::vector<uint32_t>& first,
                                      const std::vector<uint32_t>& second) {
    std::map<int64_t, size_t> votes;
    for (const auto& [a, b] : same.steps) {
      if (a >= first.size() || b >= second.size()) continue;
      if (first[a] == kNoRow || second[b] == kNoRow) continue;
      ++votes[static_cast<int64_t>(second[b]) - static_cast<int64_t>(first[a])];
    }
    const auto best =
        std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
    if (best == votes.end()) return std::nullopt;
    return best->first;
  }

  // Follows pairs of parts with common collectives, starting from the stage's first part.
  void shift_by_collectives(StageUnits& units, std::vector<uint8_t>& known) const {
    std::vector<std::vector<uint32_t>> place(parts_.size());
    std::vector<size_t> slot(parts_.size(), units.parts.size());
    for (size_t i = 0; i < units.parts.size(); ++i) {
      const UnitsOfPart& of = units.parts[i];
      place[of.part] = places(of, parts_[of.part].steps.size());
      slot[of.part] = i;
    }
    for (bool more = true; more;) {
      more = false;
      for (const SameSteps& same : same_) {
        const size_t a = slot[same.first];
        const size_t b = slot[same.second];
        if (a == units.parts.size() || b == units.parts.size() || known[a] == known[b]) continue;
        const auto shift = voted(same, place[same.first], place[same.second]);
        if (!shift) continue;
        if (known[a] != 0) units.parts[b].shift = units.parts[a].shift + *shift;
        if (known[b] != 0) units.parts[a].shift = units.parts[b].shift - *shift;
        known[a] = known[b] = 1;
        more = true;
      }
    }
  }

  // If the numbers of steps differ, shifts by the place at which this part's (or the first part's)
  // first step started.
  void shift_by_time(const UnitsOfPart& first, UnitsOfPart& of) const {
    if (of.start.size() == first.start.size() || of.start.empty() || first.start.empty()) return;
    if (!has_clock(of.part) || !has_clock(first.part)) return;
    const auto nearest = [](const std::vector<Nanoseconds>& starts, Nanoseconds time) {
      auto at = std::ranges::lower_bound(starts, time);
      if (at == starts.end()) --at;
      if (at != starts.begin() && time - *std::prev(at) < *at - time) --at;
      return at - starts.begin();
    };
    const bool later = of.start.front() >= first.start.front();
    of.shift =
        later ? -nearest(first.start, of.start.front()) : nearest(of.start, first.start.front());
  }

  void add_stage(const std::string& name) {
    StageUnits units = units_of(name);
    std::vector<uint8_t> known(units.parts.size(), 0);
    known.front() = 1;
    if (units.by_step) shift_by_collectives(units, known);
    for (size_t i = 1; i < units.parts.size(); ++i) {
      if (known[i] == 0) shift_by_time(units.parts.front(), units.parts[i]);
    }
    int64_t from = 0;
    auto to = static_cast<int64_t>(units.parts.front().rows.size());
    for (const UnitsOfPart& of : units.parts) {
      from = std::max(from, -of.shift);
      to = std::min(to, static_cast<int64_t>(of.rows.size()) - of.shift);
    }
    const auto common = static_cast<uint64_t>(std::max<int64_t>(0, to - from));
    if (units.by_step) {
      made_.matched += common;
      for (const UnitsOfPart& of : units.parts) made_.unmatched += of.rows.size() - common;
    }
    if (common == 0) return;
    if (units.by_step) return add_steps(units, from, to);
    for (int64_t place = from; place < to; ++place) {
      add_instance(units, place, static_cast<uint64_t>(place - from));
    }
  }

  static void widen(Nanoseconds start, Nanoseconds end, bool& is_first, JobInstance& unit) {
    unit.start = is_first ? start : std::min(unit.start, start);
    unit.end = is_first ? end : std::max(unit.end, end);
    is_first = false;
  }

  // Spans all parts; if clocks are not comparable, each part keeps its own wall time.
  void place_unit(const StageUnits& units, int64_t place, JobInstance& unit) const {
    unit.stage = *units.stage;
    unit.row.assign(parts_.size(), kNoRow);
    Nanoseconds longest = 0;
    bool is_first = true;
    bool all_clocks = true;
    for (const UnitsOfPart& of : units.parts) {
      const auto at = static_cast<size_t>(place + of.shift);
      unit.row[of.part] = of.rows[at];
      longest = std::max(longest, of.end[at] - of.start[at]);
      all_clocks = all_clocks && has_clock(of.part);
      if (has_clock(of.part)) widen(of.start[at], of.end[at], is_first, unit);
    }
    if (all_clocks) return;
    if (is_first) unit.start = units.parts.front().start[static_cast<size_t>(place)];
    unit.end = unit.start + longest;
  }

  void add_instance(const StageUnits& units, int64_t place, uint64_t number) {
    JobInstance& made = made_.instances.emplace_back();
    made.instance = number;
    place_unit(units, place, made);
    for (const UnitsOfPart& of : units.parts) {
      const auto& own = find_stage(parts_[of.part].profile, made.stage)->instances;
      made.warmup = made.warmup || own[made.row[of.part]].warmup;
    }
  }

  void add_steps(const StageUnits& units, int64_t from, int64_t to) {
    std::optional<uint64_t> instance_before;  // of the first part
    JobInstance instance;
    uint64_t instances = 0;
    uint64_t step_of_instance = 0;
    const uint32_t first = units.parts.front().part;
    for (int64_t place = from; place < to; ++place) {
      JobStep step;
      place_unit(units, place, step);
      const profile::Step like = parts_[first].steps[step.row[first]];
      const bool begins = instance_before != like.instance;
      if (begins) {
        if (instance_before) made_.instances.push_back(std::move(instance));
        instance = instance_of(units, step, instances++);
        step_of_instance = 0;
        instance_before = like.instance;
      }
      step.instance = instance.instance;
      step.step_of_instance = step_of_instance++;
      step.kind = like.kind;
      step.warmup = instance.warmup;
      for (const UnitsOfPart& of : units.parts) {
        step.after_untraced =
            step.after_untraced || parts_[of.part].steps.after_untraced(step.row[of.part]);
      }
      if (!begins && !step.after_untraced) {
        step.start = std::min(made_.steps.back().end, step.end);
      }
      instance.end = std::max(instance.end, step.end);
      made_.steps.push_back(std::move(step));
    }
    made_.instances.push_back(std::move(instance));
  }

  // The instance that contains `step`, from the first rank's start to the slowest rank's end.
  [[nodiscard]] JobInstance instance_of(const StageUnits& units, const JobStep& step,
                                        uint64_t number) const {
    JobInstance made;
    made.stage = step.stage;
    made.instance = number;
    made.row.assign(parts_.size(), kNoRow);
    bool is_first = true;
    for (const UnitsOfPart& of : units.parts) {
      const auto& instances = find_stage(parts_[of.part].profile, made.stage)->instances;
      const uint64_t row = parts_[of.part].steps.instance(step.row[of.part]);
      made.row[of.part] = static_cast<uint32_t>(row);
      if (row >= instances.size()) continue;
      made.warmup = made.warmup || instances[row].warmup;
      if (!has_clock(of.part)) continue;
      const Nanoseconds start = instances[row].start_ns.value;
      const Nanoseconds end = start + profile::to_nanoseconds(instances[row].wall);
      widen(job_time(clocks_[of.part], start), job_time(clocks_[of.part], end), is_first, made);
    }
    return made;
  }

  const std::vector<RankPart>& parts_;
  const std::vector<profile::RankClock>& clocks_;
  const std::vector<SameSteps>& same_;
  uint32_t reference_ = 0;
  JobSteps made_;
};

}  // namespace

std::vector<std::string> job_stage_names(const std::vector<RankPart>& parts) {
  std::vector<std::string> names;
  const auto add = [&](const RankPart& part) {
    for (const profile::Stage& stage : part.profile.stages) {
      if (std::ranges::find(names, stage.name) == names.end()) names.push_back(stage.name);
    }
  };
  if (!parts.empty()) add(parts[reference_part(parts)]);
  for (const RankPart& part : parts) add(part);
  return names;
}

JobSteps make_job_steps(const std::vector<RankPart>& parts,
                        const std::vector<profile::RankClock>& clocks,
                        const std::vector<SameSteps>& same) {
  return StepMaker(parts, clocks, same).make();
}

}  // namespace llmprof::job
