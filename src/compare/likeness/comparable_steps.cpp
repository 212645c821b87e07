#include "compare/likeness/comparable_steps.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <ranges>

namespace llmprof::compare {
namespace {

// A group with fewer steps in a run does not determine its location well; a lone group is kept.
constexpr uint64_t kFewestInGroup = 5;

// The steps or instances of a stage that are compared, run by run. Excluded ones are counted by
// rule.
template <class Row>
class ComparedRows {
 public:
  struct OfRun {
    SideName side{};
    const Run* run = nullptr;
    std::vector<const Row*> rows = {};
  };

  // `all_of` returns a stage's rows in a run; `rule_of` returns why a row is excluded, if it is.
  template <class AllOf, class RuleOf>
  ComparedRows(const Sides& sides, std::string stage, ComparedRow what, AllOf all_of,
               RuleOf rule_of, std::vector<LeftOut>& left_out)
      : base_runs_(sides.base.size()), stage_(std::move(stage)), what_(what), left_out_(left_out) {
    for (const Run& run : sides.base) runs_.push_back({SideName::base, &run});
    for (const Run& run : sides.now) runs_.push_back({SideName::now, &run});
    for (OfRun& of : runs_) take(all_of, rule_of, of);
  }

  template <class Test>
  [[nodiscard]] bool every(Test test) const {
    return std::ranges::all_of(runs_, [&](const OfRun& of) {
      return std::ranges::all_of(of.rows, [&](const Row* row) { return test(*row); });
    });
  }

  template <class Test>
  void leave_out(Exclusion rule, Test test) {
    for (OfRun& of : runs_) erase(rule, test, of);
  }

  [[nodiscard]] std::span<const OfRun> runs() const { return runs_; }
  [[nodiscard]] std::span<const OfRun> base() const { return runs().first(base_runs_); }
  [[nodiscard]] std::span<const OfRun> now() const { return runs().subspan(base_runs_); }

 private:
  template <class AllOf, class RuleOf>
  void take(const AllOf& all_of, const RuleOf& rule_of, OfRun& of) {
    const profile::Stage* stage = find_measured(of.run->profile.stages, stage_);
    if (stage == nullptr) return;
    for (const Row& row : all_of(of.run->profile, *stage)) {
      if (const std::optional<Exclusion> rule = rule_of(row, *stage)) {
        count(of, *rule, row);
      } else {
        of.rows.push_back(&row);
      }
    }
    // Rows with lowered clocks are excluded only if they are the exception.
    const auto is_lowered = [](const Row& row) { return row.clocks_lowered.value_or(false); };
    const auto lowered =
        std::ranges::count_if(of.rows, [&](const Row* row) { return is_lowered(*row); });
    if (2 * lowered <= std::ssize(of.rows)) erase(Exclusion::clocks_lowered, is_lowered, of);
  }

  void count(const OfRun& of, Exclusion rule, const Row& row) {
    const auto known = std::ranges::find_if(left_out_, [&](const LeftOut& each) {
      return each.side == of.side && each.run == of.run->path && each.stage == stage_ &&
             each.what == what_ && each.rule == rule;
    });
    LeftOut& counted =
        known != left_out_.end()
            ? *known
            : left_out_.emplace_back(LeftOut{of.side, of.run->path, stage_, what_, rule, 0, {}});
    ++counted.count;
    counted.total.value += row.wall.value;
  }

  template <class Test>
  void erase(Exclusion rule, Test test, OfRun& of) {
    std::erase_if(of.rows, [&](const Row* row) {
      if (!test(*row)) return false;
      count(of, rule, *row);
      return true;
    });
  }

  std::vector<OfRun> runs_;  // of the base, then of the new side
  size_t base_runs_;
  std::string stage_;
  ComparedRow what_;
  std::vector<LeftOut>& left_out_;
};

auto steps_of(const profile::Profile& profile, const profile::Stage& stage) {
  return profile.steps | std::views::filter([&stage](const profile::Step& step) {
           return step.stage == stage.name && step.instance < stage.instances.size();
         });
}

std::optional<Exclusion> why_unlike(const profile::Step& step, const profile::Stage& stage) {
  const profile::Instance& instance = stage.instances[step.instance];
  if (instance.warmup) return Exclusion::warm_up;
  if (step.after_untraced) return Exclusion::after_untraced;
  if (step.step_of_instance == 0 && instance.steps > 1) return Exclusion::first_step;
  if (instance.cut_off && step.step_of_instance + 1 == instance.steps) return Exclusion::cut_off;
  return std::nullopt;
}

struct Key {
  profile::StepKind kind{};
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
  using StepsOfRun = ComparedRows<profile::Step>::OfRun;

  Grouping(const Sides& sides, const std::string& stage, std::vector<LeftOut>& left_out)
      : stage_(stage), steps_(sides, stage, ComparedRow::steps, steps_of, why_unlike, left_out) {
    knows_batch_ = steps_.every([](const profile::Step& step) { return step.batch.has_value(); });
    knows_tokens_ = steps_.every([](const profile::Step& step) { return step.tokens.has_value(); });
    knows_context_ = steps_.every([](const profile::Step& step) {
      return step.context_tokens.has_value() && step.batch.value_or(0) > 0;
    });
  }

  ComparableSteps take() {
    leave_out(Exclusion::no_counterpart, keys_with(1));
    leave_out_context();
    const auto all_keys = keys_with(1);
    leave_out(Exclusion::too_few, all_keys.size() == 1 ? all_keys : keys_with(kFewestInGroup));
    ComparableSteps found;
    std::map<Key, uint32_t> rows;
    found.base = grouped(steps_.base(), &StepGroup::base_steps, found.groups, rows);
    found.now = grouped(steps_.now(), &StepGroup::now_steps, found.groups, rows);
    double all = 0;
    for (const StepGroup& group : found.groups) all += static_cast<double>(group.base_steps);
    for (StepGroup& group : found.groups) {
      group.weight = {static_cast<double>(group.base_steps) / all};
    }
    return found;
  }

 private:
  [[nodiscard]] Key key(const profile::Step& step) const {
    Key found{step.kind, std::nullopt, std::nullopt};
    if (knows_batch_) found.batch = step.batch;
    if (knows_tokens_ && step.kind != profile::StepKind::decode) found.tokens = step.tokens;
    return found;
  }

  [[nodiscard]] uint64_t context(const profile::Step& step) const {
    if (step.kind != profile::StepKind::decode) return 0;
    return knows_context_ ? *step.context_tokens / *step.batch : step.step_of_instance;
  }

  // Keys of which every run has at least `fewest` steps.
  [[nodiscard]] std::vector<Key> keys_with(uint64_t fewest) const {
    std::map<Key, size_t> runs_with;
    for (const StepsOfRun& of : steps_.runs()) {
      std::map<Key, uint64_t> counts;
      for (const profile::Step* step : of.rows) ++counts[key(*step)];
      for (const auto& [each, count] : counts) runs_with[each] += count >= fewest ? 1 : 0;
    }
    std::vector<Key> keys;
    for (const auto& [each, count] : runs_with) {
      if (count == steps_.runs().size()) keys.push_back(each);
    }
    return keys;
  }

  void leave_out(Exclusion rule, const std::vector<Key>& kept) {
    steps_.leave_out(rule, [&](const profile::Step& step) {
      return !std::ranges::binary_search(kept, key(step));
    });
  }

  void leave_out_context() {
    const auto ranges = [&](std::span<const StepsOfRun> side) {
      std::map<Key, Range> found;
      for (const StepsOfRun& of : side) {
        for (const profile::Step* step : of.rows) {
          Range& range = found[key(*step)];
          range.low = std::min(range.low, context(*step));
          range.high = std::max(range.high, context(*step));
        }
      }
      return found;
    };
    ranges_ = ranges(steps_.base());
    for (const auto& [each, range] : ranges(steps_.now())) {
      ranges_[each].low = std::max(ranges_[each].low, range.low);
      ranges_[each].high = std::min(ranges_[each].high, range.high);
    }
    steps_.leave_out(Exclusion::outside_context_range, [&](const profile::Step& step) {
      const Range& range = ranges_[key(step)];
      return context(step) < range.low || context(step) > range.high;
    });
  }

  std::vector<RowsOfRun<profile::Step>> grouped(std::span<const StepsOfRun> side,
                                                uint64_t StepGroup::* counted,
                                                std::vector<StepGroup>& groups,
                                                std::map<Key, uint32_t>& rows) {
    std::vector<RowsOfRun<profile::Step>> runs;
    for (const StepsOfRun& of : side) {
      auto& run = runs.emplace_back();
      run.rows = of.rows;
      for (const profile::Step* step : of.rows) {
        const Key each = key(*step);
        const auto [known, fresh] = rows.try_emplace(each, static_cast<uint32_t>(groups.size()));
        if (fresh) {
          const Range& range = ranges_[each];
          groups.push_back({.stage = stage_,
                            .kind = each.kind,
                            .batch = each.batch,
                            .tokens = each.tokens,
                            .context_by = knows_context_ ? ContextBy::context_tokens
                                                         : ContextBy::step_of_instance,
                            .context_low = range.low,
                            .context_high = range.high,
                            .weight = {}});
        }
        ++(groups[known->second].*counted);
        run.groups.push_back(known->second);
      }
    }
    return runs;
  }

  std::string stage_;
  ComparedRows<profile::Step> steps_;
  bool knows_batch_ = false;
  bool knows_tokens_ = false;
  bool knows_context_ = false;
  std::map<Key, Range> ranges_;
};

uint64_t all_steps(const profile::Instance& instance) {
  return instance.steps + instance.untraced_steps;
}

// Instances with as many steps are comparable: the most frequent number among those in every run.
std::optional<uint64_t> commonest_steps(const ComparedRows<profile::Instance>& instances) {
  std::map<uint64_t, uint64_t> counts;
  std::map<uint64_t, size_t> runs_with;
  for (const auto& of : instances.runs()) {
    std::map<uint64_t, uint64_t> here;
    for (const profile::Instance* instance : of.rows) ++here[all_steps(*instance)];
    for (const auto& [steps, count] : here) {
      counts[steps] += count;
      ++runs_with[steps];
    }
  }
  std::optional<uint64_t> commonest;
  for (const auto& [steps, count] : counts) {
    if (runs_with[steps] == instances.runs().size() && (!commonest || count > counts[*commonest]))
      commonest = steps;
  }
  return commonest;
}

}  // namespace

ComparableSteps comparable_steps(const Sides& sides, const std::string& stage,
                                 std::vector<LeftOut>& left_out) {
  return Grouping(sides, stage, left_out).take();
}

ComparableInstances comparable_instances(const Sides& sides, const std::string& stage,
                                         std::vector<LeftOut>& left_out) {
  ComparedRows<profile::Instance> instances(
      sides, stage, ComparedRow::instances,
      [](const profile::Profile&, const profile::Stage& of) -> const auto& { return of.instances; },
      [](const profile::Instance& instance, const profile::Stage&) -> std::optional<Exclusion> {
        if (instance.warmup) return Exclusion::warm_up;
        return instance.cut_off ? std::optional(Exclusion::cut_off) : std::nullopt;
      },
      left_out);
  const auto steps = commonest_steps(instances);
  instances.leave_out(Exclusion::no_counterpart, [&](const profile::Instance& instance) {
    return !steps || all_steps(instance) != *steps;
  });
  const auto as_one_group = [](const auto& side) {
    std::vector<RowsOfRun<profile::Instance>> runs;
    for (const auto& of : side) {
      runs.push_back({of.rows, std::vector<uint32_t>(of.rows.size(), 0)});
    }
    return runs;
  };
  return {{}, as_one_group(instances.base()), as_one_group(instances.now())};
}

}  // namespace llmprof::compare
