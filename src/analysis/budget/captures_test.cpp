// Budgets of real captures against an event-by-event oracle and plain SQL.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/budget/budget.h"
#include "analysis/stages/annotated_stages.h"
#include "testing/read_capture.h"
#include "testing/reasons.h"
#include "testing/shared_captures.h"

namespace llmprof::analysis {
namespace {

// One instance per device: from 1 us before its first GPU work to 1 us after its last.
Stages whole_captures(const trace::Trace& trace) {
  constexpr Nanoseconds kAround = 1000;
  Stages stages;
  stages.stages.emplace_back().name = "all";
  std::map<trace::DeviceId, InstanceId> of_device;
  const auto own = [&](const auto& table, std::vector<InstanceId>& owners,
                       std::vector<StepId>& steps) {
    owners.resize(table.size());
    steps.resize(table.size());
    for (size_t i = 0; i < table.size(); ++i) {
      const trace::Queue& queue = trace.queues[table.queue[i]];
      const auto [known, fresh] =
          of_device.try_emplace(queue.device, InstanceId(stages.instances.size()));
      if (fresh) {
        StageInstance& added = stages.instances.emplace_back();
        added.process = queue.process;
        added.device = queue.device;
        added.start = table.start[i] - kAround;
        added.end = added.start;
      }
      StageInstance& instance = stages.instances[known->second.index()];
      instance.start = std::min(instance.start, table.start[i] - kAround);
      instance.end = std::max(instance.end, table.end[i] + kAround);
      owners[i] = known->second;
    }
  };
  own(trace.kernels, stages.owners.kernel_instance, stages.owners.kernel_step);
  own(trace.memory_operations, stages.owners.memory_instance, stages.owners.memory_step);
  own(trace.graph_replays, stages.owners.replay_instance, stages.owners.replay_step);
  return stages;
}

struct Event {
  Nanoseconds time = 0;
  bool begins = false;
  // Orders active work by priority: rank, start, table and row.
  std::tuple<int, Nanoseconds, int, size_t> work;
  size_t part = 0;
};

// Walks from event to event with the set of active work.
PartTimes busy_by_events(const trace::Trace& trace, const Stages& stages,
                         const DescribedNames& names, InstanceId id) {
  const StageInstance& instance = stages.instances[id.index()];
  std::vector<Event> events;
  const auto add = [&](const auto& table, const std::vector<InstanceId>& owners, int kind,
                       const auto& part_of) {
    for (size_t i = 0; i < table.size(); ++i) {
      const Nanoseconds start = std::max(table.start[i], instance.start);
      const Nanoseconds end = std::min(table.end[i], instance.end);
      if (owners[i] != id || end <= start) continue;
      const size_t part = part_of(i);
      const bool exposed_only = part == static_cast<size_t>(KernelClass::communication);
      const int rank = kind == 2 ? 2 : (exposed_only ? 1 : 0);
      events.push_back({start, true, {rank, start, kind, i}, part});
      events.push_back({end, false, {rank, start, kind, i}, part});
    }
  };
  add(trace.kernels, stages.owners.kernel_instance, 0,
      [&](size_t i) { return static_cast<size_t>(names[trace.kernels.name[i]].kernel_class); });
  add(trace.graph_replays, stages.owners.replay_instance, 1,
      [](size_t) { return static_cast<size_t>(BudgetPart::hidden_graphs); });
  add(trace.memory_operations, stages.owners.memory_instance, 2,
      [](size_t) { return static_cast<size_t>(BudgetPart::memory_operations); });
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.time < b.time; });
  PartTimes times{};
  std::map<decltype(Event::work), size_t> active;
  Nanoseconds last = 0;
  for (const Event& event : events) {
    if (!active.empty()) times[active.begin()->second] += event.time - last;
    last = event.time;
    if (event.begins) {
      active.emplace(event.work, event.part);
    } else {
      active.erase(event.work);
    }
  }
  return times;
}

void expect_budgets(const trace::Trace& trace, const Stages& stages, const std::string& what) {
  const DescribedNames names(trace, KernelRules::load({}).value());
  const Budgets budgets = time_budgets(trace, stages, names, BudgetBasis(trace));
  ASSERT_EQ(budgets.instances.size(), stages.instances.size());
  for (size_t i = 0; i < stages.instances.size(); ++i) {
    const PartTimes& parts = budgets.instances[i];
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), Nanoseconds{0}),
              stages.instances[i].wall())
        << what << " instance " << i;
    const PartTimes busy = busy_by_events(trace, stages, names, InstanceId(i));
    for (size_t part = 0; part < kBudgetParts; ++part) {
      EXPECT_GE(parts[part], 0);
      const bool gpu_work = part <= static_cast<size_t>(BudgetPart::memory_operations);
      if (gpu_work) {
        EXPECT_EQ(parts[part], busy[part]) << what << ' ' << i << ' ' << budget_part_name(part);
      }
    }
  }
}

// Returns the number of captures read.
size_t expect_budgets_below(const std::filesystem::path& folder) {
  size_t read = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".sqlite") && !name.ends_with(".json.gz")) continue;
    const auto trace = testing::read_capture(entry.path());
    if (!trace) continue;
    expect_budgets(*trace, whole_captures(*trace), name);
    ++read;
  }
  return read;
}

TEST(BudgetsOfCaptures, SumToTheWallTimeOfWholeCaptures) {
  EXPECT_EQ(expect_budgets_below(testing::h200_captures()), 6U);
  EXPECT_EQ(expect_budgets_below(testing::test_data("h200-decoder")), 3U);
}

TEST(SharedCapturesBudgets, SumToTheWallTimeOfWholeCaptures) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  EXPECT_GE(expect_budgets_below(captures), 10U);
}

struct Staged {
  trace::Trace trace;
  Stages stages;
};

Staged read_staged(const std::filesystem::path& path) {
  Staged read;
  read.trace = testing::read_capture(path).value();
  Diagnostics diagnostics;
  const auto conf = config::ConfFiles::open(std::nullopt);
  const MeaningfulRanges ranges(read.trace, StageRules::load(*conf).value());
  auto stages = annotated_stages(read.trace, ranges, diagnostics);
  EXPECT_TRUE(stages);
  if (stages) read.stages = std::move(*stages);
  return read;
}

TEST(BudgetsOfCaptures, SumToTheWallTimeOfStages) {
  const auto captures = testing::h200_captures();
  for (const char* name : {"h200-dense-graph/nsys_node.sqlite",
                           "h200-dense-graph/nsys_graph.sqlite", "h200-llama-eager/nsys.sqlite"}) {
    const Staged read = read_staged(captures / name);
    EXPECT_FALSE(read.stages.instances.empty());
    expect_budgets(read.trace, read.stages, name);
  }
}

// By SQL over the kernel table, ordered by start, after the second decode_all started
// (18005924120): the GPU waits more than 10 ms 12 times, always before the cuDNN attention kernel:
// 654.6 ms of the 989.8 ms. (cuDNN builds a plan for each new context length; warm-up covered the
// first four.)
TEST(BudgetsOfCaptures, FindTheStallsOfEagerDecode) {
  const auto captures = testing::h200_captures();
  const Staged read = read_staged(captures / "h200-llama-eager/nsys.sqlite");
  const DescribedNames names(read.trace, KernelRules::load({}).value());
  const Budgets budgets = time_budgets(read.trace, read.stages, names, BudgetBasis(read.trace));
  const auto stall = std::find_if(
      budgets.repeated_gaps.begin(), budgets.repeated_gaps.end(), [&](const RepeatedIdleGap& gap) {
        const StageInstance& instance = read.stages.instances[gap.longest.instance.index()];
        return read.stages.stages[instance.stage].name == "decode";
      });
  ASSERT_NE(stall, budgets.repeated_gaps.end());
  EXPECT_EQ(stall->count, 12U);
  EXPECT_NEAR(static_cast<double>(stall->total), 654.63e6, 0.01e6);
  EXPECT_EQ(stall->longest.length(), 60343016);
  EXPECT_EQ(stall->longest.cause, BudgetPart::idle_host);
  EXPECT_NE(stall->longest.work_after.find("SDPA"), std::string::npos);
  EXPECT_EQ(stall->longest.host.kind, profile::ReasonKind::host_code);
  EXPECT_EQ(testing::text_of({stall->longest.host}, "between_operators"), "no");
  EXPECT_EQ(testing::text_of({stall->longest.host}, "in"), "decode_step");
}

// One graph launch starts 516 of a step's 517 kernels: between them the GPU never waits for the
// host. Only the first step of each request waits, for its graph launch.
TEST(BudgetsOfCaptures, TakeGraphDecodeAsQueued) {
  const auto captures = testing::h200_captures();
  const Staged read = read_staged(captures / "h200-dense-graph/nsys_node.sqlite");
  const DescribedNames names(read.trace, KernelRules::load({}).value());
  const Budgets budgets = time_budgets(read.trace, read.stages, names, BudgetBasis(read.trace));
  const StageBudget& decode = budgets.stages[1];
  ASSERT_EQ(read.stages.stages[1].name, "decode");
  EXPECT_EQ(decode.instances, 2U);
  const auto part = [&](BudgetPart p) { return decode.total[static_cast<size_t>(p)]; };
  EXPECT_GT(part(BudgetPart::idle_queued), 4 * part(BudgetPart::idle_launch));
  EXPECT_EQ(decode.gaps[static_cast<size_t>(BudgetPart::idle_launch)], 2U);
  ASSERT_EQ(budgets.slow_steps.size(), 2U);
  for (const profile::SlowStep& slow : budgets.slow_steps) {
    const Step& step = read.stages.steps[slow.step];
    EXPECT_EQ(read.stages.instances[step.instance.index()].first_step, slow.step);
    ASSERT_FALSE(slow.reasons.empty());
    EXPECT_EQ(testing::kinds_of(slow.reasons[0].what_reasons),
              (testing::Kinds{"longer_gap", "host_call"}));
    EXPECT_TRUE(
        testing::text_of(slow.reasons[0].what_reasons, "call").starts_with("cudaGraphLaunch"));
  }
}

}  // namespace
}  // namespace llmprof::analysis
