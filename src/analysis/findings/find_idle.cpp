#include <algorithm>
#include <set>
#include <vector>

#include "analysis/findings/finders.h"
#include "analysis/findings/make_finding.h"
#include "analysis/findings/stage_facts.h"
#include "base/text.h"

namespace llmprof::analysis {
namespace {

// The host's late launches of a stage, split so that no time is counted twice. ns per instance.
struct LateLaunches {
  double between_steps = 0;  // without stalls
  double inside = 0;         // without stalls
  std::vector<const RepeatedGap*> stalls;
  std::vector<const IdleGap*> single_stalls;  // long, and not at a place that stalls again
};

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

bool is_repeated(const std::vector<const RepeatedGap*>& stalls, const IdleGap& gap) {
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
    if (is_repeated(late.stalls, *gap)) continue;
    late.single_stalls.push_back(gap);
    take_out(late, gap->between_steps, length / facts.instances());
  }
  return late;
}

using profile::FindingKind;
using profile::FindingValues;
using profile::to_milliseconds;

constexpr double kMostlyGraphs = 0.5;

uint64_t gaps_of(const StageFacts& facts, BudgetPart part) {
  return facts.budget->gaps[static_cast<size_t>(part)];
}

double gaps_per_instance(const StageFacts& facts, BudgetPart part) {
  return static_cast<double>(gaps_of(facts, part)) / facts.instances();
}

const IdleGap* longest_gap(const StageFacts& facts, BudgetPart cause) {
  for (const IdleGap* gap : facts.gaps) {
    if (gap->cause == cause) return gap;
  }
  return nullptr;
}

// longest_gap and host; nothing where no gap is known.
FindingValues longest_and_host(const IdleGap* gap) {
  FindingValues values;
  if (gap == nullptr) return values;
  values.add("longest_gap", to_milliseconds(gap->length())).add_text("host", "");
  return values;
}

void explain_host(const IdleGap* gap, Finding& finding) {
  if (gap != nullptr) explain_value("host", {gap->host}, finding);
}

void add_stall(const StageFacts& facts, const RepeatedGap& stall, std::vector<Finding>& findings) {
  const auto total = static_cast<double>(stall.total);
  const auto count = static_cast<double>(stall.count);
  FindingValues values;
  values.add_number("gaps", count)
      .add("mean_gap", to_milliseconds(total / count))
      .add_text("work_before", stall.longest.work_before)
      .add_text("work_after", stall.longest.work_after)
      .add_all(longest_and_host(&stall.longest))
      .add_flag("decodes", facts.decodes());
  Finding finding = make_finding(facts, FindingKind::host_stall_repeated, total / facts.instances(),
                                 std::move(values));
  explain_host(&stall.longest, finding);
  finding.subject = to_printable(stall.longest.work_before + " -> " + stall.longest.work_after);
  findings.push_back(std::move(finding));
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
  values.add_number("stalls", static_cast<double>(stalls.size()))
      .add("stalled", to_milliseconds(total))
      .add_number("instances_with_stall", static_cast<double>(instances.size()))
      .add_number("instances", facts.instances())
      .add_all(longest_and_host(&longest))
      .add_text("work_after", longest.work_after);
  Finding finding = make_finding(facts, FindingKind::host_stall_single, total / facts.instances(),
                                 std::move(values));
  explain_host(&longest, finding);
  findings.push_back(std::move(finding));
}

// How many kernels a pass has, and how many of them CUDA graphs launch.
FindingValues kernels_of_pass(const StageFacts& facts) {
  FindingValues values;
  values.add_number("kernels_per_pass", static_cast<double>(facts.kernels) / facts.passes())
      .add_text("pass", facts.pass());
  if (facts.hidden_replays > 0) {
    values.add_number("graph_replays_per_instance",
                      static_cast<double>(facts.hidden_replays) / facts.instances());
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
      .add_number("gaps_per_instance", gaps_per_instance(facts, BudgetPart::idle_launch) +
                                           gaps_per_instance(facts, BudgetPart::idle_host))
      .add("share_in_cuda_calls", profile::Share{launch / (launch + host)})
      .add("share_in_host_code", profile::Share{host / (launch + host)})
      .add_all(kernels_of_pass(facts))
      .add_flag("graphs_used", uses_graphs(facts))
      .add_flag("decodes", facts.decodes())
      .add_all(program_values(facts));
  if (const IdleGap* gap = longest_gap(facts, BudgetPart::idle_launch)) {
    values.add("longest_gap", to_milliseconds(gap->length()))
        .add_text("work_after", gap->work_after);
  }
  findings.push_back(make_finding(facts, FindingKind::launch_bound, time, std::move(values)));
}

void add_between_steps(const StageFacts& facts, double time, std::vector<Finding>& findings) {
  const auto found = std::find_if(facts.gaps.begin(), facts.gaps.end(), [](const IdleGap* gap) {
    return gap->between_steps && is_host_late(gap->cause);
  });
  const IdleGap* longest = found == facts.gaps.end() ? nullptr : *found;
  const auto steps = static_cast<double>(facts.steps);
  FindingValues values;
  values.add("gap_per_step", to_milliseconds(time * facts.instances() / steps))
      .add_number("steps_per_instance", steps / facts.instances())
      .add_all(longest_and_host(longest));
  Finding finding = make_finding(facts, FindingKind::gap_between_steps, time, std::move(values));
  explain_host(longest, finding);
  findings.push_back(std::move(finding));
}

void add_synchronization(const StageFacts& facts, std::vector<Finding>& findings) {
  const IdleGap* longest = longest_gap(facts, BudgetPart::idle_synchronization);
  FindingValues values;
  values.add_number("gaps_per_instance", gaps_per_instance(facts, BudgetPart::idle_synchronization))
      .add_all(longest_and_host(longest));
  if (longest != nullptr) values.add_text("work_before", longest->work_before);
  Finding finding = make_finding(facts, FindingKind::synchronization,
                                 facts.time(BudgetPart::idle_synchronization), std::move(values));
  explain_host(longest, finding);
  findings.push_back(std::move(finding));
}

void add_queue_gaps(const StageFacts& facts, std::vector<Finding>& findings) {
  const double time = facts.time(BudgetPart::idle_queued) -
                      static_cast<double>(facts.budget->queued_long) / facts.instances();
  const auto gaps =
      static_cast<double>(gaps_of(facts, BudgetPart::idle_queued) - facts.budget->gaps_queued_long);
  if (gaps <= 0) return;
  FindingValues values;
  values.add_number("gaps_per_instance", gaps / facts.instances())
      .add("mean_gap", to_milliseconds(time * facts.instances() / gaps))
      .add_all(kernels_of_pass(facts));
  findings.push_back(make_finding(facts, FindingKind::queue_gaps, time, std::move(values)));
}

void add_first_waits(const StageFacts& facts, std::vector<Finding>& findings) {
  const double time = static_cast<double>(facts.budget->queued_long) / facts.instances();
  if (time > 0) findings.push_back(make_finding(facts, FindingKind::first_work_queued, time));
}

void add_edge(const StageFacts& facts, BudgetPart part, FindingKind kind,
              std::vector<Finding>& findings) {
  const IdleGap* longest = longest_gap(facts, part);
  Finding finding = make_finding(facts, kind, facts.time(part), longest_and_host(longest));
  explain_host(longest, finding);
  findings.push_back(std::move(finding));
}

}  // namespace

void find_idle_time(const StageFacts& facts, std::vector<Finding>& findings) {
  const LateLaunches late = take_apart(facts);
  for (const RepeatedGap* stall : late.stalls) add_stall(facts, *stall, findings);
  if (!late.single_stalls.empty()) add_single_stalls(facts, late.single_stalls, findings);
  if (late.inside > 0) add_launch_bound(facts, late.inside, findings);
  if (late.between_steps > 0 && facts.by_step()) {
    add_between_steps(facts, late.between_steps, findings);
  }
  if (facts.time(BudgetPart::idle_synchronization) > 0) add_synchronization(facts, findings);
  add_queue_gaps(facts, findings);
  add_first_waits(facts, findings);
  add_edge(facts, BudgetPart::idle_before_first, FindingKind::idle_before_first_work, findings);
  add_edge(facts, BudgetPart::idle_after_last, FindingKind::idle_after_last_work, findings);
}

}  // namespace llmprof::analysis
