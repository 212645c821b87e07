#include "compare/likeness/like_steps.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace llmprof::compare {
namespace {

// A group with fewer steps in a run says too little of its location; the only group is kept.
constexpr uint64_t kFewestInGroup = 5;
constexpr std::string_view kDecode = "decode";

class LeftOutCounts {
 public:
  LeftOutCounts(std::string_view side, std::string stage, std::string_view what,
                std::vector<LeftOut>& into)
      : side_(side), stage_(std::move(stage)), what_(what), into_(into) {}

  void add(const std::string& run, std::string_view rule, Milliseconds wall) {
    const auto known = std::find_if(into_.begin(), into_.end(), [&](const LeftOut& row) {
      return row.side == side_ && row.run == run && row.stage == stage_ && row.what == what_ &&
             row.rule == rule;
    });
    LeftOut& row =
        known != into_.end()
            ? *known
            : into_.emplace_back(LeftOut{side_, run, stage_, what_, std::string(rule), 0, {}});
    ++row.count;
    row.total.value += wall.value;
  }

 private:
  std::string side_;
  std::string stage_;
  std::string what_;
  std::vector<LeftOut>& into_;
};

// Lowered clocks are a reason to leave a step out where they are the exception.
template <class Rows>
bool mostly_lowered(const Rows& rows) {
  size_t lowered = 0;
  for (const auto* row : rows) lowered += row->clocks_lowered.value_or(false) ? 1U : 0U;
  return 2 * lowered > rows.size();
}

template <class Rows>
void leave_out_lowered(const Run& run, LeftOutCounts& counts, Rows& rows) {
  if (mostly_lowered(rows)) return;
  std::erase_if(rows, [&](const auto* row) {
    if (!row->clocks_lowered.value_or(false)) return false;
    counts.add(run.path, "clocks_lowered", row->wall);
    return true;
  });
}

std::vector<const profile::Step*> usable_steps(const Run& run, const std::string& stage,
                                               LeftOutCounts& counts) {
  std::vector<const profile::Step*> steps;
  const profile::Stage* found = find_stage(run.profile, stage);
  if (found == nullptr) return steps;
  for (const profile::Step& step : run.profile.steps) {
    if (step.stage != stage || step.instance >= found->instances.size()) continue;
    const profile::Instance& instance = found->instances[step.instance];
    if (instance.warmup) {
      counts.add(run.path, "warm_up", step.wall);
    } else if (step.after_untraced) {
      counts.add(run.path, "after_untraced", step.wall);
    } else if (step.step_of_instance == 0 && instance.steps > 1) {
      counts.add(run.path, "first_step", step.wall);
    } else if (instance.cut_off && step.step_of_instance + 1 == instance.steps) {
      counts.add(run.path, "cut_off", step.wall);
    } else {
      steps.push_back(&step);
    }
  }
  leave_out_lowered(run, counts, steps);
  return steps;
}

struct Key {
  std::string kind;
  std::optional<uint64_t> batch;
  std::optional<uint64_t> tokens;

  auto operator<=>(const Key&) const = default;
};

struct Range {
  uint64_t low = std::numeric_limits<uint64_t>::max();
  uint64_t high = 0;
};

class Grouping {
 public:
  Grouping(const Sides& sides, std::string stage, std::vector<LeftOut>& left_out)
      : sides_(sides),
        stage_(std::move(stage)),
        base_counts_("base", stage_, "steps", left_out),
        now_counts_("new", stage_, "steps", left_out) {
    for (const Run& run : sides.base) base_.push_back(usable_steps(run, stage_, base_counts_));
    for (const Run& run : sides.now) now_.push_back(usable_steps(run, stage_, now_counts_));
    tells_batch_ = every([](const profile::Step& step) { return step.batch.has_value(); });
    tells_tokens_ = every([](const profile::Step& step) { return step.tokens.has_value(); });
    tells_context_ = every([](const profile::Step& step) {
      return step.context_tokens.has_value() && step.batch.value_or(0) > 0;
    });
  }

  LikeSteps take() {
    leave_out("no_counterpart", common_keys());
    leave_out_context();
    leave_out("too_few", large_keys());
    LikeSteps found;
    std::map<Key, uint32_t> rows;
    count(base_, found.groups, rows, &StepGroup::base_steps);
    count(now_, found.groups, rows, &StepGroup::now_steps);
    double all = 0;
    for (const StepGroup& group : found.groups) all += static_cast<double>(group.base_steps);
    for (StepGroup& group : found.groups) {
      group.weight = {static_cast<double>(group.base_steps) / all};
    }
    found.base = grouped(base_, rows);
    found.now = grouped(now_, rows);
    return found;
  }

 private:
  using Side = std::vector<std::vector<const profile::Step*>>;

  template <class Test>
  bool every(Test test) const {
    for (const Side* side : {&base_, &now_}) {
      for (const auto& run : *side) {
        for (const profile::Step* step : run) {
          if (!test(*step)) return false;
        }
      }
    }
    return true;
  }

  [[nodiscard]] Key key(const profile::Step& step) const {
    Key found{step.kind, std::nullopt, std::nullopt};
    if (tells_batch_) found.batch = step.batch;
    if (tells_tokens_ && step.kind != kDecode) found.tokens = step.tokens;
    return found;
  }

  [[nodiscard]] uint64_t context(const profile::Step& step) const {
    if (step.kind != kDecode) return 0;
    return tells_context_ ? *step.context_tokens / *step.batch : step.step_of_instance;
  }

  [[nodiscard]] std::map<Key, uint64_t> counts(
      const std::vector<const profile::Step*>& steps) const {
    std::map<Key, uint64_t> found;
    for (const profile::Step* step : steps) ++found[key(*step)];
    return found;
  }

  // Of every run.
  [[nodiscard]] std::map<Key, uint64_t> fewest() const {
    std::map<Key, uint64_t> found;
    bool first = true;
    for (const Side* side : {&base_, &now_}) {
      for (const auto& run : *side) {
        const auto here = counts(run);
        if (first) found = here;
        first = false;
        for (auto& [each, count] : found) {
          const auto known = here.find(each);
          count = std::min(count, known == here.end() ? 0 : known->second);
        }
      }
    }
    std::erase_if(found, [](const auto& entry) { return entry.second == 0; });
    return found;
  }

  [[nodiscard]] std::vector<Key> common_keys() const { return keys_with(1); }
  [[nodiscard]] std::vector<Key> large_keys() const {
    const auto all = keys_with(1);
    return all.size() == 1 ? all : keys_with(kFewestInGroup);
  }
  [[nodiscard]] std::vector<Key> keys_with(uint64_t count) const {
    std::vector<Key> keys;
    for (const auto& [each, steps] : fewest()) {
      if (steps >= count) keys.push_back(each);
    }
    return keys;
  }

  void leave_out(std::string_view rule, const std::vector<Key>& kept) {
    erase(rule, [&](const profile::Step& step) {
      return !std::binary_search(kept.begin(), kept.end(), key(step));
    });
  }

  void leave_out_context() {
    const auto ranges = [&](const Side& side) {
      std::map<Key, Range> found;
      for (const auto& run : side) {
        for (const profile::Step* step : run) {
          Range& range = found[key(*step)];
          range.low = std::min(range.low, context(*step));
          range.high = std::max(range.high, context(*step));
        }
      }
      return found;
    };
    ranges_ = ranges(base_);
    for (const auto& [each, range] : ranges(now_)) {
      ranges_[each].low = std::max(ranges_[each].low, range.low);
      ranges_[each].high = std::min(ranges_[each].high, range.high);
    }
    erase("outside_context_range", [&](const profile::Step& step) {
      const Range& range = ranges_[key(step)];
      return context(step) < range.low || context(step) > range.high;
    });
  }

  template <class Test>
  void erase(std::string_view rule, Test test) {
    const auto of_side = [&](std::span<const Run> runs, LeftOutCounts& counts, Side& side) {
      for (size_t i = 0; i < side.size(); ++i) {
        std::erase_if(side[i], [&](const profile::Step* step) {
          if (!test(*step)) return false;
          counts.add(runs[i].path, rule, step->wall);
          return true;
        });
      }
    };
    of_side(sides_.base, base_counts_, base_);
    of_side(sides_.now, now_counts_, now_);
  }

  void count(const Side& side, std::vector<StepGroup>& groups, std::map<Key, uint32_t>& rows,
             uint64_t StepGroup::* counted) {
    for (const auto& run : side) {
      for (const profile::Step* step : run) {
        const Key each = key(*step);
        const auto [known, fresh] = rows.try_emplace(each, static_cast<uint32_t>(groups.size()));
        if (fresh) {
          const Range& range = ranges_[each];
          groups.push_back({stage_,
                            each.kind,
                            each.batch,
                            each.tokens,
                            tells_context_ ? "context_tokens" : "step_of_instance",
                            range.low,
                            range.high,
                            0,
                            0,
                            {}});
        }
        ++(groups[known->second].*counted);
      }
    }
  }

  std::vector<StepsOfRun> grouped(const Side& side, const std::map<Key, uint32_t>& rows) const {
    std::vector<StepsOfRun> runs;
    for (const auto& steps : side) {
      StepsOfRun& run = runs.emplace_back();
      run.steps = steps;
      for (const profile::Step* step : steps) run.groups.push_back(rows.at(key(*step)));
    }
    return runs;
  }

  const Sides& sides_;
  std::string stage_;
  LeftOutCounts base_counts_;
  LeftOutCounts now_counts_;
  Side base_;
  Side now_;
  bool tells_batch_ = false;
  bool tells_tokens_ = false;
  bool tells_context_ = false;
  std::map<Key, Range> ranges_;
};

std::vector<std::vector<const profile::Instance*>> usable_instances(std::span<const Run> runs,
                                                                    const std::string& stage,
                                                                    LeftOutCounts& counts) {
  std::vector<std::vector<const profile::Instance*>> side;
  for (const Run& run : runs) {
    auto& instances = side.emplace_back();
    const profile::Stage* found = find_stage(run.profile, stage);
    if (found == nullptr) continue;
    for (const profile::Instance& instance : found->instances) {
      if (instance.warmup) {
        counts.add(run.path, "warm_up", instance.wall);
      } else if (instance.cut_off) {
        counts.add(run.path, "cut_off", instance.wall);
      } else {
        instances.push_back(&instance);
      }
    }
    leave_out_lowered(run, counts, instances);
  }
  return side;
}

uint64_t all_steps(const profile::Instance& instance) {
  return instance.steps + instance.untraced_steps;
}

// Instances of as many steps are alike: the number that most of those have that every run has.
std::optional<uint64_t> commonest_steps(const LikeInstances& instances) {
  std::map<uint64_t, uint64_t> counts;
  for (const auto* side : {&instances.base, &instances.now}) {
    for (const auto& run : *side) {
      for (const profile::Instance* instance : run) ++counts[all_steps(*instance)];
    }
  }
  const auto in_every_run = [&](uint64_t steps) {
    const auto in_run = [&](const auto& run) {
      return std::any_of(run.begin(), run.end(), [&](const profile::Instance* instance) {
        return all_steps(*instance) == steps;
      });
    };
    return std::all_of(instances.base.begin(), instances.base.end(), in_run) &&
           std::all_of(instances.now.begin(), instances.now.end(), in_run);
  };
  std::optional<uint64_t> commonest;
  for (const auto& [steps, count] : counts) {
    if (in_every_run(steps) && (!commonest || count > counts[*commonest])) commonest = steps;
  }
  return commonest;
}

}  // namespace

LikeSteps like_steps(const Sides& sides, const std::string& stage, std::vector<LeftOut>& left_out) {
  return Grouping(sides, stage, left_out).take();
}

LikeInstances like_instances(const Sides& sides, const std::string& stage,
                             std::vector<LeftOut>& left_out) {
  LeftOutCounts base("base", stage, "instances", left_out);
  LeftOutCounts now("new", stage, "instances", left_out);
  LikeInstances found{usable_instances(sides.base, stage, base),
                      usable_instances(sides.now, stage, now)};
  const auto steps = commonest_steps(found);
  const auto keep = [&](std::span<const Run> runs, LeftOutCounts& counts, auto& side) {
    for (size_t i = 0; i < side.size(); ++i) {
      std::erase_if(side[i], [&](const profile::Instance* instance) {
        if (steps && all_steps(*instance) == *steps) return false;
        counts.add(runs[i].path, "no_counterpart", instance->wall);
        return true;
      });
    }
  };
  keep(sides.base, base, found.base);
  keep(sides.now, now, found.now);
  return found;
}

}  // namespace llmprof::compare
