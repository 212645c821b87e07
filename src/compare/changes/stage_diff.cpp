#include "compare/changes/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "compare/comparability/comparability.h"
#include "compare/kernels/match.h"

namespace llmprof::compare {
namespace {

// A stage of each run of a side that has it.
using StageOfRuns = std::vector<const profile::Stage*>;

StageOfRuns stage_of_runs(std::span<const Run> runs, const std::string& name) {
  StageOfRuns stages;
  for (const Run& run : runs) stages.push_back(find_measured(run.profile.stages, name));
  std::erase(stages, nullptr);
  return stages;
}

// One rank's stage in each run; empty unless every run has it.
StageOfRuns stage_of_rank(std::span<const Run> runs, uint64_t rank, const std::string& name) {
  StageOfRuns stages;
  for (const Run& run : runs) {
    for (const profile::Rank& row : run.profile.ranks) {
      const profile::Stage* stage = row.rank == rank ? find_measured(row.stages, name) : nullptr;
      if (stage != nullptr && stage->budget) stages.push_back(stage);
    }
  }
  return stages.size() == runs.size() ? stages : StageOfRuns();
}

// Traced steps, or instances of a stage without steps.
double units_of(const StageOfRuns& stages) {
  uint64_t units = 0;
  for (const profile::Stage* stage : stages) {
    units +=
        stage->step_count > 0 ? stage->step_count : stage->instance_count - stage->warmup_count;
  }
  return static_cast<double>(units);
}

TimeUnit unit_of(const profile::Stage& stage) {
  return stage.step_count > 0 ? TimeUnit::step : TimeUnit::instance;
}

// A job's kernels are from all ranks, its times from one. Both sides have the same number of ranks.
double recorded_ranks(const Sides& sides) {
  const auto& job = sides.base.front().profile.job;
  return job ? static_cast<double>(std::max<uint64_t>(job->recorded, 1)) : 1;
}

struct PartTotal {
  int64_t base = 0;
  int64_t now = 0;
  bool idle = false;
};
using PartTotals = std::map<std::string, PartTotal>;

// Over all measured instances, recorded or without profiling.
void add_parts(const StageOfRuns& stages, bool untraced, int64_t PartTotal::* side,
               PartTotals& totals) {
  for (const profile::Stage* stage : stages) {
    const auto& budget = untraced ? stage->shown.budget : stage->budget;
    if (!budget) continue;
    for (const profile::BudgetPart& part : *budget) {
      if (part.part == profile::TimePart::not_traced) continue;
      PartTotal& total = totals[std::string(to_string(part.part))];
      total.*side += part.total_ns.value;
      total.idle = part.idle;
    }
  }
}

template <class Row>
void rank(std::vector<Row>& rows) {
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
    return std::abs(a.difference.value) > std::abs(b.difference.value);
  });
}

std::optional<Share> over(int64_t part, int64_t whole) {
  if (whole <= 0) return std::nullopt;
  return Share{static_cast<double>(part) / static_cast<double>(whole)};
}

int64_t per_unit(int64_t total, double units) {
  return std::llround(static_cast<double>(total) / units);
}

void fill_budget(const PartTotals& totals, StageDiff& diff) {
  std::vector<int64_t> base;
  std::vector<int64_t> now;
  for (const auto& [part, total] : totals) {
    base.push_back(total.base);
    now.push_back(total.now);
  }
  base = apportion(base, diff.base_units);
  now = apportion(now, diff.now_units);
  size_t row = 0;
  for (const auto& [part, total] : totals) {
    PartChange& change = diff.budget.emplace_back();
    change.part = part;
    change.idle = total.idle;
    change.base = {base[row]};
    change.now = {now[row]};
    change.difference = {now[row] - base[row]};
    diff.base_wall.value += base[row];
    diff.now_wall.value += now[row];
    ++row;
  }
  diff.difference = {diff.now_wall.value - diff.base_wall.value};
  diff.relative = over(diff.difference.value, diff.base_wall.value);
}

std::vector<int64_t> times_of(const std::vector<PlacedKernel>& rows, double units) {
  std::vector<int64_t> totals;
  totals.reserve(rows.size());
  for (const PlacedKernel& row : rows) totals.push_back(row.total_ns.value);
  return apportion(totals, units);
}

void fill_kernels(const std::vector<PlacedKernel>& base, const std::vector<PlacedKernel>& now,
                  bool by_place, double ranks, StageDiff& diff) {
  const double base_units = diff.base_units * ranks;
  const double now_units = diff.now_units * ranks;
  const std::vector<int64_t> base_times = times_of(base, base_units);
  const std::vector<int64_t> now_times = times_of(now, now_units);
  const auto kernels = [](const std::vector<PlacedKernel>& rows, const std::vector<size_t>& which,
                          double units) {
    std::vector<ChangedKernel> found;
    found.reserve(which.size());
    for (const size_t row : which) {
      found.push_back({rows[row].short_name, rows[row].kernel_class,
                       static_cast<double>(rows[row].calls) / units});
    }
    return found;
  };
  for (const Match& match : match_rows(base, now, by_place)) {
    KernelChange& change = diff.kernels.emplace_back();
    change.change = change_of(match, base, now);
    const auto block =
        match.base.empty() ? now[match.now.front()].block : base[match.base.front()].block;
    if (by_place) change.block = to_string(block);
    change.matched_by = match.by;
    change.base_kernels = kernels(base, match.base, base_units);
    change.now_kernels = kernels(now, match.now, now_units);
    for (const size_t row : match.base) change.base.value += base_times[row];
    for (const size_t row : match.now) change.now.value += now_times[row];
    change.difference = {change.now.value - change.base.value};
    diff.kernel_base.value += change.base.value;
    diff.kernel_now.value += change.now.value;
  }
  diff.kernel_difference = {diff.kernel_now.value - diff.kernel_base.value};
}

void finish(StageDiff& diff) {
  const int64_t wall = diff.base_wall.value;
  for (PartChange& part : diff.budget) part.points = over(part.difference.value, wall);
  for (KernelChange& kernel : diff.kernels) kernel.points = over(kernel.difference.value, wall);
  find_causes(diff);
  for (Cause& cause : diff.causes) cause.points = over(cause.difference.value, wall);
  rank(diff.budget);
  rank(diff.kernels);
  rank(diff.causes);
}

// GPU time from the first to the last work.
void add_device_time(std::span<const Run> runs, int64_t PartTotal::* side, PartTotals& totals) {
  for (const Run& run : runs) {
    for (const profile::DeviceTime& device : run.profile.device_time) {
      int64_t rest = profile::to_nanoseconds(device.span);
      const auto add = [&](const std::string& part, profile::Milliseconds time, bool idle) {
        PartTotal& total = totals[part];
        total.*side += profile::to_nanoseconds(time);
        total.idle = idle;
        rest -= profile::to_nanoseconds(time);
      };
      for (const profile::IdleCause& cause : device.idle_causes)
        add(std::string(to_string(cause.cause)), cause.time, true);
      add("exposed copies", device.exposed_copies, false);
      if (device.not_traced) rest -= profile::to_nanoseconds(*device.not_traced);
      totals[std::string(kKernelsRunning)].*side += rest;
    }
  }
}

// The classes of the base kernels, otherwise of the new ones: "norm + elementwise".
std::string classes_of(const KernelChange& change) {
  const auto& kernels = change.base_kernels.empty() ? change.now_kernels : change.base_kernels;
  std::vector<std::string_view> names;
  for (const ChangedKernel& kernel : kernels) {
    const std::string_view name = to_string(kernel.kernel_class);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, " + "));
}

// Time that additional or missing launches of the same kernel account for, at the base duration.
int64_t of_launches(const KernelChange& change) {
  const double base = calls_of(change.base_kernels);
  const double more = calls_of(change.now_kernels) - base;
  if (change.change != ChangeKind::matched || base <= 0) return 0;
  return std::llround(static_cast<double>(change.base.value) * more / base);
}

Cause& cause_of(ChangeKind kind, const std::string& subject, std::vector<Cause>& causes) {
  const auto known = std::ranges::find_if(
      causes, [&](const Cause& cause) { return cause.kind == kind && cause.subject == subject; });
  if (known != causes.end()) return *known;
  Cause& cause = causes.emplace_back();
  cause.kind = kind;
  cause.subject = subject;
  return cause;
}

}  // namespace

StageDiff diff_stage(const Sides& sides, const std::string& stage, bool all_kernels_seen) {
  StageDiff diff;
  diff.stage = stage;
  const StageOfRuns base = stage_of_runs(sides.base, stage);
  const StageOfRuns now = stage_of_runs(sides.now, stage);
  diff.base_units = units_of(base);
  diff.now_units = units_of(now);
  diff.unit = unit_of(*base.front());
  const bool untraced = untraced_on_both(sides, stage);
  diff.times = untraced ? Times::untraced : Times::recorded;
  PartTotals totals;
  add_parts(base, untraced, &PartTotal::base, totals);
  add_parts(now, untraced, &PartTotal::now, totals);
  fill_budget(totals, diff);
  const bool by_place = knows_places(sides.base, stage) && knows_places(sides.now, stage);
  if (all_kernels_seen) {
    fill_kernels(placed_rows(sides.base, stage, by_place), placed_rows(sides.now, stage, by_place),
                 by_place, recorded_ranks(sides), diff);
  }
  finish(diff);
  return diff;
}

StageDiff diff_all_kernels(const Sides& sides) {
  StageDiff diff;
  diff.stage = kAllKernels;
  diff.unit = TimeUnit::capture;
  diff.times = Times::recorded;
  diff.base_units = static_cast<double>(sides.base.size());
  diff.now_units = static_cast<double>(sides.now.size());
  PartTotals totals;
  add_device_time(sides.base, &PartTotal::base, totals);
  add_device_time(sides.now, &PartTotal::now, totals);
  fill_budget(totals, diff);
  fill_kernels(all_kernels(sides.base), all_kernels(sides.now), false, 1, diff);
  finish(diff);
  return diff;
}

std::vector<RankDiff> diff_ranks(const Sides& sides) {
  std::vector<RankDiff> rows;
  const profile::Profile& first = sides.base.front().profile;
  for (const profile::Rank& rank : first.ranks) {
    for (const profile::Stage& stage : first.stages) {
      const StageOfRuns base = stage_of_rank(sides.base, rank.rank, stage.name);
      const StageOfRuns now = stage_of_rank(sides.now, rank.rank, stage.name);
      if (base.empty() || now.empty()) continue;
      PartTotals totals;
      add_parts(base, false, &PartTotal::base, totals);
      add_parts(now, false, &PartTotal::now, totals);
      const auto of_base = [&](int64_t total) { return per_unit(total, units_of(base)); };
      const auto of_now = [&](int64_t total) { return per_unit(total, units_of(now)); };
      RankDiff& row = rows.emplace_back();
      row.rank = rank.rank;
      row.stage = stage.name;
      row.unit = unit_of(stage);
      PartTotal wall;
      for (const auto& [part, total] : totals) {
        wall.base += total.base;
        wall.now += total.now;
        const int64_t change = of_now(total.now) - of_base(total.base);
        if (std::abs(change) <= std::abs(row.part_difference.value)) continue;
        row.part = part;
        row.part_difference = {change};
      }
      row.base_wall = {of_base(wall.base)};
      row.now_wall = {of_now(wall.now)};
      row.difference = {row.now_wall.value - row.base_wall.value};
      row.relative = over(row.difference.value, row.base_wall.value);
    }
  }
  return rows;
}

void find_causes(StageDiff& diff) {
  std::set<std::string> classes;
  for (const KernelChange& change : diff.kernels) {
    const ChangeKind kind =
        change.change == ChangeKind::matched ? ChangeKind::same_kernels : change.change;
    const int64_t launches = of_launches(change);
    Cause& cause = cause_of(kind, classes_of(change), diff.causes);
    cause.base_kernels += change.base_kernels.size();
    cause.now_kernels += change.now_kernels.size();
    cause.difference.value += change.difference.value - launches;
    if (launches != 0) {
      cause_of(ChangeKind::launches, classes_of(change), diff.causes).difference.value += launches;
    }
    for (const auto* kernels : {&change.base_kernels, &change.now_kernels}) {
      for (const ChangedKernel& kernel : *kernels) classes.emplace(to_string(kernel.kernel_class));
    }
  }
  // Budgets charge each moment once, to the class of one of the running kernels.
  int64_t of_kernels = 0;
  for (const PartChange& part : diff.budget) {
    if (classes.contains(part.part) || part.part == kKernelsRunning) {
      of_kernels += part.difference.value;
    } else {
      Cause& cause =
          cause_of(part.idle ? ChangeKind::idle : ChangeKind::other_parts, part.part, diff.causes);
      cause.difference.value += part.difference.value;
    }
  }
  if (diff.budget.empty()) return;
  diff.overlap = {of_kernels - diff.kernel_difference.value};
  if (diff.overlap.value != 0) {
    Cause& cause = cause_of(ChangeKind::overlap, "", diff.causes);
    cause.subject.reset();
    cause.difference = diff.overlap;
  }
}

std::vector<int64_t> apportion(const std::vector<int64_t>& totals, double units) {
  std::vector<int64_t> shares;
  shares.reserve(totals.size());
  int64_t sum = 0;
  int64_t given = 0;
  for (const int64_t total : totals) {
    sum += total;
    const int64_t up_to_here = per_unit(sum, units);
    shares.push_back(up_to_here - given);
    given = up_to_here;
  }
  return shares;
}

}  // namespace llmprof::compare
