#include "analysis/findings/late_launches.h"

#include <algorithm>

namespace llmprof::analysis {
namespace {

// A gap is a stall of its own where it is so much longer than the average one.
constexpr double kStallOverAverage = 10;
// One that does not come back, from this share of the stage's wall time on.
constexpr double kSingleStallShare = 0.05;

double part_of(const PartTimes& times, BudgetPart part) {
  return static_cast<double>(times[static_cast<size_t>(part)]);
}

double late_of(const PartTimes& times) {
  return part_of(times, BudgetPart::idle_launch) + part_of(times, BudgetPart::idle_host);
}

bool is_told(const std::vector<const RepeatedGap*>& stalls, const IdleGap& gap) {
  return std::any_of(stalls.begin(), stalls.end(), [&](const RepeatedGap* stall) {
    return stall->longest.work_before == gap.work_before &&
           stall->longest.work_after == gap.work_after &&
           gap.length() * 2 >= stall->longest.length();
  });
}

void take_out(LateLaunches& late, bool between_steps, double time) {
  double& rest = between_steps ? late.between_steps : late.inside;
  rest = std::max(0.0, rest - time);
}

}  // namespace

bool is_host_late(BudgetPart cause) {
  return cause == BudgetPart::idle_launch || cause == BudgetPart::idle_host;
}

LateLaunches take_apart(const StageFacts& facts) {
  LateLaunches late;
  late.between_steps = late_of(facts.budget->between_steps) / facts.instances();
  const double all = late_of(facts.budget->total);
  late.inside = all / facts.instances() - late.between_steps;
  const auto& counts = facts.budget->gaps;
  const auto gaps = static_cast<double>(counts[static_cast<size_t>(BudgetPart::idle_launch)] +
                                        counts[static_cast<size_t>(BudgetPart::idle_host)]);
  const double long_gap = gaps > 0 ? kStallOverAverage * all / gaps : 0;
  for (const RepeatedGap* gap : facts.repeated_gaps) {
    const double mean = static_cast<double>(gap->total) / static_cast<double>(gap->count);
    if (!is_host_late(gap->longest.cause) || mean < long_gap) continue;
    late.stalls.push_back(gap);
    take_out(late, gap->longest.between_steps, static_cast<double>(gap->total) / facts.instances());
  }
  const double least =
      std::max(long_gap, kSingleStallShare * facts.recoverable->wall * facts.instances());
  for (const IdleGap* gap : facts.gaps) {
    const auto length = static_cast<double>(gap->length());
    const bool at_edge = gap->work_before.empty() || gap->work_after.empty();
    if (at_edge || !is_host_late(gap->cause) || length < least) continue;
    if (is_told(late.stalls, *gap)) continue;
    late.single_stalls.push_back(gap);
    take_out(late, gap->between_steps, length / facts.instances());
  }
  return late;
}

}  // namespace llmprof::analysis
