#include <gtest/gtest.h>

#include <random>

#include "analysis/budget/budget.h"
#include "testing/budget_parts.h"
#include "testing/staged_trace.h"

// Budgets against an oracle that examines every nanosecond individually.
namespace llmprof::analysis {
namespace {

struct Random {
  std::mt19937 engine;
  Nanoseconds below(Nanoseconds limit) {
    return static_cast<Nanoseconds>(engine() % static_cast<uint64_t>(limit));
  }
};

// Three instances (two overlap), two launching threads, and work outside all instances.
void fill_at_random(TestTrace& t, Random& random) {
  const uint32_t stage = t.stage("decode");
  for (const auto& [start, end] : {std::pair{50, 300}, {280, 500}, {500, 620}}) {
    t.instance(stage, start, end);
  }
  t.outside();
  constexpr std::string_view kNames[] = {"gemm", "mul", "norm", "all_reduce"};
  t.tracing_changes(0, true, trace::TracingReason::program_start);
  Nanoseconds at = 0;
  uint32_t graph = 0;
  while (at < 640) {
    at += random.below(14);
    if (random.below(12) == 0) {
      t.tracing_changes(at, false);
      at += 1 + random.below(60);
      t.tracing_changes(at, true);
      at += random.below(20);
    }
    const Nanoseconds end = at + random.below(20);
    const Nanoseconds choice = random.below(10);
    uint32_t correlation = 0;
    if (choice < 7) {
      const Nanoseconds called = at - random.below(25) + 5;
      correlation = t.call("cudaLaunchKernel", called, called + random.below(8), choice < 2);
    } else if (choice == 7 && graph != 0) {
      correlation = graph;
    }
    if (choice == 8) correlation = graph = t.call("cudaGraphLaunch", at - 3, at + 30);
    const auto owner = static_cast<size_t>(random.below(4));
    const InstanceId instance = owner < 3 ? InstanceId(owner) : InstanceId();
    if (choice == 9) {
      t.copy(at, end, correlation);
      t.stages().owners.memory_instance.back() = instance;
    } else {
      t.kernel(kNames[random.below(4)], at, end, correlation);
      t.stages().owners.kernel_instance.back() = instance;
    }
  }
  for (Nanoseconds call = 0; call < 640; call += random.below(60)) {
    t.call("cudaStreamSynchronize", call, call + random.below(20));
    call += 20;
  }
}

struct OracleWindow {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
};

struct OracleWork {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  size_t part = 0;
  int rank = 0;  // 0 kernels, 1 communication, 2 memory operations
  InstanceId instance;
  trace::LaunchRow launch;
  size_t order = 0;
};

std::vector<OracleWork> oracle_work(const trace::Trace& trace, const Stages& stages) {
  const DescribedNames names(trace, TestTrace::rules());
  std::vector<OracleWork> all;
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    const KernelClass kind = names[trace.kernels.name[i]].kernel_class;
    all.push_back({trace.kernels.start[i], trace.kernels.end[i], static_cast<size_t>(kind),
                   kind == KernelClass::communication ? 1 : 0, stages.owners.kernel_instance[i],
                   trace.kernels.launch[i], all.size()});
  }
  for (size_t i = 0; i < trace.memory_operations.size(); ++i) {
    all.push_back({trace.memory_operations.start[i], trace.memory_operations.end[i],
                   static_cast<size_t>(BudgetPart::memory_operations), 2,
                   stages.owners.memory_instance[i], trace.memory_operations.launch[i],
                   all.size()});
  }
  return all;
}

// From the end of tracing, or of the last work launched before it, to the first launched later.
std::vector<OracleWindow> oracle_windows(const trace::Trace& trace,
                                         const std::vector<OracleWork>& all) {
  std::vector<OracleWindow> windows;
  const trace::TracingTable& tracing_changes = trace.tracing_changes;
  for (size_t i = 0; i < tracing_changes.size(); ++i) {
    if (tracing_changes.state[i] == trace::TracingState::tracing) continue;
    OracleWindow window{tracing_changes.time[i], INT64_MAX};
    for (const OracleWork& work : all) {
      if (!work.launch.valid()) continue;
      if (trace.launches.start[work.launch.index()] < tracing_changes.time[i]) {
        window.start = std::max(window.start, work.end);
      } else {
        window.end = std::min(window.end, work.start);
      }
    }
    windows.push_back(window);
  }
  return windows;
}

bool in_call(const trace::Trace& trace, trace::ThreadId thread, Nanoseconds time,
             bool synchronizing) {
  const trace::LaunchTable& calls = trace.launches;
  for (size_t i = 0; i < calls.size(); ++i) {
    const bool open = calls.start[i] <= time && time < calls.end[i];
    const bool wanted =
        !synchronizing || trace.strings[calls.api[i]].find("Synchronize") != std::string_view::npos;
    if (calls.thread[i] == thread && open && wanted) return true;
  }
  return false;
}

// The part that the instant [time, time + 1) of an instance belongs to, by the documented rules.
BudgetPart oracle_part(const trace::Trace& trace, const StageInstance& instance, InstanceId id,
                       const std::vector<OracleWork>& all,
                       const std::vector<OracleWindow>& untraced, Nanoseconds time) {
  const OracleWork* charged = nullptr;
  const OracleWork* next = nullptr;
  Nanoseconds last_end = INT64_MIN;
  bool occupied = false;
  for (const OracleWork& work : all) {
    const bool active = work.start <= time && time < work.end;
    occupied = occupied || active;
    if (work.instance != id) continue;
    const Nanoseconds start = std::max(work.start, instance.start);
    const Nanoseconds end = std::min(work.end, instance.end);
    if (end < start) continue;
    const auto key = [](const OracleWork& w) { return std::tuple(w.rank, w.start, w.order); };
    if (active && (charged == nullptr || key(work) < key(*charged))) charged = &work;
    if (start <= time) last_end = std::max(last_end, end);
    const auto begins = [](const OracleWork& w) { return std::pair(w.start, w.order); };
    if (start > time && (next == nullptr || begins(work) < begins(*next))) next = &work;
  }
  if (charged != nullptr) return static_cast<BudgetPart>(charged->part);
  if (occupied || (next == nullptr && last_end == INT64_MIN)) return BudgetPart::unattributed;
  Nanoseconds untraced_until = INT64_MIN;
  for (const OracleWindow& window : untraced) {
    if (window.start <= time && time < window.end) return BudgetPart::not_traced;
    if (window.start < window.end && window.end <= time) {
      untraced_until = std::max(untraced_until, window.end);
    }
  }
  if (next == nullptr) return BudgetPart::idle_after_last;
  if (last_end == INT64_MIN) return BudgetPart::idle_before_first;
  if (!next->launch.valid()) return BudgetPart::unattributed;
  for (const OracleWork& work : all) {
    const bool earlier = std::pair(work.start, work.order) < std::pair(next->start, next->order);
    if (earlier && work.launch == next->launch) return BudgetPart::idle_queued;
  }
  const size_t call = next->launch.index();
  last_end = std::max(last_end, untraced_until);
  if (trace.launches.end[call] <= last_end) return BudgetPart::idle_queued;
  if (time >= trace.launches.start[call]) return BudgetPart::idle_launch;
  const trace::ThreadId thread = trace.launches.thread[call];
  if (in_call(trace, thread, time, true)) return BudgetPart::idle_synchronization;
  return in_call(trace, thread, time, false) ? BudgetPart::idle_launch : BudgetPart::idle_host;
}

TEST(TimeBudget, AgreesWithLookingAtEveryNanosecond) {
  PartTimes seen{};
  for (uint32_t seed = 0; seed < 300; ++seed) {
    TestTrace t;
    Random random{std::mt19937(seed)};
    fill_at_random(t, random);
    const Budgets budgets = t.budgets();
    const std::vector<OracleWork> all = oracle_work(t.trace(), t.stages());
    const std::vector<OracleWindow> untraced = oracle_windows(t.trace(), all);
    for (size_t i = 0; i < t.stages().instances.size(); ++i) {
      const StageInstance& instance = t.stages().instances[i];
      PartTimes expected{};
      for (Nanoseconds time = instance.start; time < instance.end; ++time) {
        const BudgetPart part =
            oracle_part(t.trace(), instance, InstanceId(i), all, untraced, time);
        ++expected[static_cast<size_t>(part)];
        ++seen[static_cast<size_t>(part)];
      }
      ASSERT_EQ(parts_of(budgets.instances[i]), parts_of(expected)) << "seed " << seed;
      ASSERT_EQ(sum_of(budgets.instances[i]), instance.wall());
    }
  }
  // Every rule was exercised.
  for (auto part = static_cast<size_t>(BudgetPart::memory_operations); part < kBudgetParts;
       ++part) {
    EXPECT_GT(seen[part], 1000) << budget_part_name(part);
  }
}

}  // namespace
}  // namespace llmprof::analysis
