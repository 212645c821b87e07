#include <algorithm>
#include <set>
#include <vector>

#include "analysis/findings/stage_facts.h"
#include "analysis/statistics/statistics.h"
#include "base/text.h"

namespace llmprof::analysis {
namespace {

// A gap is a separate stall if it is this many times as long as the average gap.
constexpr double kStallOverAverage = 10;
// The least share of the stage's wall time for a stall that does not repeat.
constexpr double kSingleStallShare = 0.05;
constexpr double kMostlyGraphs = 0.5;

// Late launches of a stage, split so that no time is counted twice. ns per instance.
struct LateLaunches {
  double between_steps = 0;  // without stalls
  double inside = 0;         // without stalls
  std::vector<const RepeatedIdleGap*> stalls;
  std::vector<const IdleGap*> single_stalls;  // long, and not at a place that stalls repeatedly

  void take_out(bool is_between_steps, double time) {
    double& rest = is_between_steps ? between_steps : inside;
    rest = std::max(0.0, rest - time);
  }
};

double late_of(const PartTimes& times) {
  return static_cast<double>(times[static_cast<size_t>(BudgetPart::idle_launch)]) +
         static_cast<double>(times[static_cast<size_t>(BudgetPart::idle_host)]);
}

bool is_repeated(const std::vector<const RepeatedIdleGap*>& stalls, const IdleGap& gap) {
  return std::ranges::any_of(stalls, [&](const RepeatedIdleGap* stall) {
    return stall->longest.work_before == gap.work_before &&
           stall->longest.work_after == gap.work_after &&
           gap.length() * 2 >= stall->longest.length();
  });
}

bool is_host_late(BudgetPart cause) {
  return cause == BudgetPart::idle_launch || cause == BudgetPart::idle_host;
}

uint64_t gaps_of(const StageFacts& facts, BudgetPart part) {
  return facts.budget->gaps[static_cast<size_t>(part)];
}

LateLaunches take_apart(const StageFacts& facts) {
  LateLaunches late;
  late.between_steps = facts.per_instance(late_of(facts.budget->between_steps));
  const double all = late_of(facts.budget->total);
  late.inside = facts.per_instance(all) - late.between_steps;
  const auto gaps = static_cast<double>(gaps_of(facts, BudgetPart::idle_launch) +
                                        gaps_of(facts, BudgetPart::idle_host));
  const double long_gap = gaps > 0 ? kStallOverAverage * all / gaps : 0;
  for (const RepeatedIdleGap* gap : facts.repeated_gaps) {
    const double mean = static_cast<double>(gap->total) / static_cast<double>(gap->count);
    if (!is_host_late(gap->longest.cause) || mean < long_gap) continue;
    late.stalls.push_back(gap);
    late.take_out(gap->longest.between_steps(), facts.per_instance(gap->total));
  }
  const double least =
      std::max(long_gap, kSingleStallShare * facts.savings->wall * facts.instances());
  for (const IdleGap* gap : facts.gaps) {
    const bool at_edge = gap->work_before.empty() || gap->work_after.empty();
    if (at_edge || !is_host_late(gap->cause)) continue;
    if (static_cast<double>(gap->length()) < least || is_repeated(late.stalls, *gap)) continue;
    late.single_stalls.push_back(gap);
    late.take_out(gap->between_steps(), facts.per_instance(gap->length()));
  }
  return late;
}

const IdleGap* longest_gap(const StageFacts& facts, BudgetPart cause) {
  const auto found = std::ranges::find(facts.gaps, cause, &IdleGap::cause);
  return found == facts.gaps.end() ? nullptr : *found;
}

// longest_gap and host; empty if no gap is known.
FindingValues longest_and_host(const IdleGap* gap) {
  FindingValues values;
  if (gap == nullptr) return values;
  values.add("longest_gap", to_milliseconds(gap->length())).add("host", "");
  return values;
}

// Adds a finding whose `values` include those of longest_and_host.
Finding& add_idle(const StageFacts& facts, FindingKind kind, double time, FindingValues values,
                  const IdleGap* longest, std::vector<Finding>& findings) {
  Finding& finding = add_finding(facts, kind, time, std::move(values), findings);
  if (longest != nullptr) explain_value("host", {longest->host}, finding);
  return finding;
}

void add_stall(const StageFacts& facts, const RepeatedIdleGap& stall,
               std::vector<Finding>& findings) {
  const auto count = static_cast<double>(stall.count);
  FindingValues values;
  values.add("gaps", count)
      .add("mean_gap", to_milliseconds(static_cast<double>(stall.total) / count))
      .add("work_before", stall.longest.work_before)
      .add("work_after", stall.longest.work_after)
      .add_all(longest_and_host(&stall.longest))
      .add("decodes", facts.decodes());
  add_idle(facts, FindingKind::host_stall_repeated, facts.per_instance(stall.total),
           std::move(values), &stall.longest, findings)
      .subject = to_printable(stall.longest.work_before + " -> " + stall.longest.work_after);
}

void add_single_stalls(const StageFacts& facts, const std::vector<const IdleGap*>& stalls,
                       std::vector<Finding>& findings) {
  double total = 0;
  std::set<uint32_t> instances;
  for (const IdleGap* stall : stalls) {
    total += static_cast<double>(stall->length());
    instances.insert(stall->instance.value);
  }
  const IdleGap& longest = *stalls.front();
  FindingValues values;
  values.add("stalls", stalls.size())
      .add("stalled", to_milliseconds(total))
      .add("instances_with_stall", instances.size())
      .add("instances", facts.instances())
      .add_all(longest_and_host(&longest))
      .add("work_after", longest.work_after);
  add_idle(facts, FindingKind::host_stall_single, facts.per_instance(total), std::move(values),
           &longest, findings);
}

// How many kernels a pass has, and how many of these CUDA graphs launch.
FindingValues kernels_of_pass(const StageFacts& facts) {
  FindingValues values;
  values.add("kernels_per_pass", static_cast<double>(facts.kernels) / facts.passes())
      .add("pass", facts.pass());
  if (facts.hidden_replays > 0) {
    values.add("graph_replays_per_instance", facts.per_instance(facts.hidden_replays));
  } else {
    const double share = facts.kernels == 0 ? 0
                                            : static_cast<double>(facts.graph_kernels) /
                                                  static_cast<double>(facts.kernels);
    values.add("share_in_graphs", profile::Share{share});
  }
  return values;
}

bool uses_graphs(const StageFacts& facts) {
  return facts.hidden_replays > 0 || static_cast<double>(facts.graph_kernels) >
                                         kMostlyGraphs * static_cast<double>(facts.kernels);
}

void add_launch_bound(const StageFacts& facts, double time, std::vector<Finding>& findings) {
  const double launch = facts.time(BudgetPart::idle_launch);
  const double host = facts.time(BudgetPart::idle_host);
  FindingValues values;
  values
      .add("gaps_per_instance", facts.per_instance(gaps_of(facts, BudgetPart::idle_launch)) +
                                    facts.per_instance(gaps_of(facts, BudgetPart::idle_host)))
      .add("share_in_cuda_calls", profile::Share{launch / (launch + host)})
      .add("share_in_host_code", profile::Share{host / (launch + host)})
      .add_all(kernels_of_pass(facts))
      .add("graphs_used", uses_graphs(facts))
      .add("decodes", facts.decodes())
      .add_all(program_values(facts));
  if (const IdleGap* gap = longest_gap(facts, BudgetPart::idle_launch)) {
    values.add("longest_gap", to_milliseconds(gap->length())).add("work_after", gap->work_after);
  }
  add_finding(facts, FindingKind::launch_bound, time, std::move(values), findings);
}

void add_between_steps(const StageFacts& facts, double time, std::vector<Finding>& findings) {
  const auto found = std::ranges::find_if(facts.gaps, [](const IdleGap* gap) {
    return gap->between_steps() && is_host_late(gap->cause);
  });
  const IdleGap* longest = found == facts.gaps.end() ? nullptr : *found;
  const auto steps = static_cast<double>(facts.steps);
  FindingValues values;
  values.add("gap_per_step", to_milliseconds(time * facts.instances() / steps))
      .add("steps_per_instance", facts.per_instance(steps))
      .add_all(longest_and_host(longest));
  add_idle(facts, FindingKind::gap_between_steps, time, std::move(values), longest, findings);
}

void add_synchronization(const StageFacts& facts, std::vector<Finding>& findings) {
  constexpr BudgetPart kPart = BudgetPart::idle_synchronization;
  const IdleGap* longest = longest_gap(facts, kPart);
  FindingValues values;
  values.add("gaps_per_instance", facts.per_instance(gaps_of(facts, kPart)))
      .add_all(longest_and_host(longest));
  if (longest != nullptr) values.add("work_before", longest->work_before);
  add_idle(facts, FindingKind::synchronization, facts.time(kPart), std::move(values), longest,
           findings);
}

void add_queued(const StageFacts& facts, std::vector<Finding>& findings) {
  const double long_waits = facts.per_instance(facts.budget->queued_long);
  const auto gaps =
      static_cast<double>(gaps_of(facts, BudgetPart::idle_queued) - facts.budget->gaps_queued_long);
  if (gaps > 0) {
    const double time = facts.time(BudgetPart::idle_queued) - long_waits;
    FindingValues values;
    values.add("gaps_per_instance", facts.per_instance(gaps))
        .add("mean_gap", to_milliseconds(time * facts.instances() / gaps))
        .add_all(kernels_of_pass(facts));
    add_finding(facts, FindingKind::queue_gaps, time, std::move(values), findings);
  }
  if (long_waits > 0) add_finding(facts, FindingKind::first_work_queued, long_waits, {}, findings);
}

void add_edge(const StageFacts& facts, BudgetPart part, FindingKind kind,
              std::vector<Finding>& findings) {
  const IdleGap* longest = longest_gap(facts, part);
  add_idle(facts, kind, facts.time(part), longest_and_host(longest), longest, findings);
}

void add_outside_operators(const StageFacts& facts, std::vector<Finding>& findings) {
  double time = 0;
  uint64_t gaps = 0;
  for (size_t part = 0; part < kBudgetParts; ++part) {
    if (!is_idle(part)) continue;
    time += facts.time(part);
    gaps += facts.budget->gaps[part];
  }
  if (time <= 0) return;
  const IdleGap* longest = facts.gaps.empty() ? nullptr : facts.gaps.front();
  FindingValues values;
  values.add("gaps_per_instance", facts.per_instance(gaps)).add_all(longest_and_host(longest));
  add_idle(facts, FindingKind::time_outside_operators, time, std::move(values), longest, findings);
}

}  // namespace

void find_idle_time(const StageFacts& facts, std::vector<Finding>& findings) {
  if (facts.on_cpu()) return add_outside_operators(facts, findings);
  const LateLaunches late = take_apart(facts);
  for (const RepeatedIdleGap* stall : late.stalls) add_stall(facts, *stall, findings);
  if (!late.single_stalls.empty()) add_single_stalls(facts, late.single_stalls, findings);
  if (late.inside > 0) add_launch_bound(facts, late.inside, findings);
  if (late.between_steps > 0 && facts.by_step()) {
    add_between_steps(facts, late.between_steps, findings);
  }
  if (facts.time(BudgetPart::idle_synchronization) > 0) add_synchronization(facts, findings);
  add_queued(facts, findings);
  add_edge(facts, BudgetPart::idle_before_first, FindingKind::idle_before_first_work, findings);
  add_edge(facts, BudgetPart::idle_after_last, FindingKind::idle_after_last_work, findings);
}

}  // namespace llmprof::analysis
