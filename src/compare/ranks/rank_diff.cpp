#include "compare/ranks/rank_diff.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace llmprof::compare {
namespace {

const profile::Stage* stage_of_rank(const Run& run, uint64_t rank, const std::string& name) {
  for (const profile::Rank& row : run.profile.ranks) {
    if (row.rank != rank) continue;
    for (const profile::Stage& stage : row.stages) {
      const bool measured = stage.instance_count > stage.warmup_count && stage.budget;
      if (stage.name == name && measured) return &stage;
    }
  }
  return nullptr;
}

// One rank's stage in all runs of a side.
struct RankTotals {
  uint64_t units = 0;  // steps that were traced, or instances of a stage without
  int64_t wall = 0;
  std::map<std::string, int64_t> parts;

  [[nodiscard]] int64_t per_unit(int64_t total) const {
    return std::llround(static_cast<double>(total) / static_cast<double>(units));
  }
  [[nodiscard]] int64_t of(const std::string& part) const {
    const auto known = parts.find(part);
    return known == parts.end() ? 0 : per_unit(known->second);
  }
};

// None where a run has no such rank, or it no such stage.
std::optional<RankTotals> totals_of(std::span<const Run> runs, uint64_t rank,
                                    const std::string& name) {
  RankTotals totals;
  for (const Run& run : runs) {
    const profile::Stage* stage = stage_of_rank(run, rank, name);
    if (stage == nullptr) return std::nullopt;
    totals.units +=
        stage->step_count > 0 ? stage->step_count : stage->instance_count - stage->warmup_count;
    for (const profile::BudgetPart& part : *stage->budget) {
      if (part.part == profile::TimePart::not_traced) continue;
      totals.wall += part.total_ns.value;
      totals.parts[std::string(to_string(part.part))] += part.total_ns.value;
    }
  }
  if (totals.units == 0) return std::nullopt;
  return totals;
}

// The part that changed most.
void name_part(const RankTotals& base, const RankTotals& now, RankDiff& diff) {
  std::map<std::string, int64_t> all = base.parts;
  all.insert(now.parts.begin(), now.parts.end());
  for (const auto& [part, ignored] : all) {
    const int64_t change = now.of(part) - base.of(part);
    if (std::abs(change) <= std::abs(diff.part_difference.value)) continue;
    diff.part = part;
    diff.part_difference = {change};
  }
}

}  // namespace

std::vector<RankDiff> diff_ranks(const Sides& sides) {
  std::vector<RankDiff> rows;
  const profile::Profile& first = sides.base.front().profile;
  for (const profile::Rank& rank : first.ranks) {
    for (const profile::Stage& stage : first.stages) {
      const auto base = totals_of(sides.base, rank.rank, stage.name);
      const auto now = totals_of(sides.now, rank.rank, stage.name);
      if (!base || !now) continue;
      RankDiff& row = rows.emplace_back();
      row.rank = rank.rank;
      row.stage = stage.name;
      row.unit = stage.step_count > 0 ? TimeUnit::step : TimeUnit::instance;
      row.base_wall = {base->per_unit(base->wall)};
      row.now_wall = {now->per_unit(now->wall)};
      row.difference = {row.now_wall.value - row.base_wall.value};
      if (row.base_wall.value > 0) {
        row.relative = Share{static_cast<double>(row.difference.value) /
                             static_cast<double>(row.base_wall.value)};
      }
      name_part(*base, *now, row);
    }
  }
  return rows;
}

}  // namespace llmprof::compare
