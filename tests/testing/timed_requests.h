#pragma once

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "analysis/untraced/untraced_times.h"
#include "testing/staged_trace.h"

// Programs whose launches were intercepted, recorded and as a control run.
namespace llmprof::analysis {

using CallKind = trace::HostCallTable::Kind;

// The nonzero parts, by name.
inline std::map<std::string, double> untraced_parts(const StageUntraced& stage) {
  std::map<std::string, double> parts;
  for (size_t part = 0; part < kBudgetParts; ++part) {
    if (stage.parts[part] != 0) parts[std::string(budget_part_name(part))] = stage.parts[part];
  }
  return parts;
}
inline double sum_of_parts(const StageUntraced& stage) {
  return std::accumulate(stage.parts.begin(), stage.parts.end(), 0.0);
}
// Properties of every stage with a known untraced time.
inline void expect_whole_stage(const StageUntraced& stage) {
  EXPECT_TRUE(stage.known());
  EXPECT_DOUBLE_EQ(sum_of_parts(stage), stage.wall);
  EXPECT_GE(stage.idle, 0);
  for (const double part : stage.parts) EXPECT_GE(part, 0);
}

// Requests with a prefill of eight consecutive kernels and three decode steps of one CUDA graph;
// the host waits for each pass. Traced, a prefill takes 1000 with 800 busy, a step 200 with 150
// busy. The first request is a warm-up.
class TimedRequests {
 public:
  static constexpr Nanoseconds kFirst = 10'000;
  static constexpr Nanoseconds kApart = 10'000;
  static constexpr int kRequests = 3;

  // Another process has other handles.
  explicit TimedRequests(uint64_t first_handle) : handle_(first_handle) {}

  void record() {
    const uint32_t prefill = t.stage("prefill");
    const uint32_t decode = t.stage("decode");
    for (int request = 0; request < kRequests; ++request) {
      const Nanoseconds base = kFirst + request * kApart;
      t.instance(prefill, base, base + 1000).warmup = request == 0;
      for (int i = 0; i < 8; ++i) {
        t.launched("gemm", base + 10 * i + 1, base + 200 + 100 * i, base + 300 + 100 * i);
      }
      t.instance(decode, base + 1000, base + 1600).warmup = request == 0;
      for (int i = 0; i < 3; ++i) {
        const Nanoseconds start = base + 1000 + 200 * i;
        t.step(start, start + 200);
        t.replay(start + 50, start + 200, t.call("cudaGraphLaunch", start + 1, start + 5));
      }
      note_request(base, 1000, {200, 200, 200});
    }
  }
  void note_request(Nanoseconds base, Nanoseconds prefill, const std::vector<Nanoseconds>& steps) {
    for (int i = 0; i < 8; ++i) note_launch(CallKind::kernel, i % 3, base + 10 * i);
    t.noted(CallKind::wait, 0, base + 80, base + prefill);
    Nanoseconds now = base + prefill;
    for (const Nanoseconds step : steps) {
      note_launch(CallKind::graph, 99, now);
      t.noted(CallKind::wait, 0, now + 10, now + step);
      now += step;
    }
  }
  // A warm-up, and two requests with these prefills and with steps of 180 and 190.
  void note_requests(Nanoseconds prefill, Nanoseconds other_prefill) {
    note_request(10'000, 5000, {900, 900, 900});
    note_request(20'000, prefill, {180, 180, 180});
    note_request(30'000, other_prefill, {190, 190, 190});
  }
  void note_other_work() {
    for (int i = 0; i < 10; ++i) note_launch(CallKind::kernel, 20 + i, 100 * i);
  }
  void note_graph(Nanoseconds start) { note_launch(CallKind::graph, 99, start); }
  void note_kernels(int function, int count, Nanoseconds start) {
    for (int i = 0; i < count; ++i) note_launch(CallKind::kernel, function + i % 3, start + 2 * i);
  }
  UntracedStages find(TimedRequests* control) {
    const Budgets budgets = t.budgets();
    return find_untraced_times(t.trace(), t.stages(), budgets,
                               control != nullptr ? &control->t.freeze() : nullptr, false);
  }

  TestTrace t;

 private:
  void note_launch(CallKind kind, int function, Nanoseconds start) {
    t.noted(kind, handle_ + static_cast<uint64_t>(function), start, start);
  }

  uint64_t handle_;
};

// Prefills of 900 and 940: 920 - 800 busy leaves 120. Steps of 180 and 190: decodes of 540 and 570,
// mean 555 with 450 busy.
inline void expect_times_by_instance(const UntracedStages& untraced) {
  const StageUntraced& prefill = untraced.stages.at(0);
  expect_whole_stage(prefill);
  EXPECT_EQ(prefill.source, UntracedSource::control_launches);
  EXPECT_EQ(prefill.wall, 920);
  EXPECT_EQ(prefill.added, 80);
  EXPECT_EQ(prefill.idle, 120);
  EXPECT_EQ(prefill.passes, 2U);
  EXPECT_EQ(prefill.instances, 2U);
  EXPECT_FALSE(prefill.per_step);
  const StageUntraced& decode = untraced.stages.at(1);
  expect_whole_stage(decode);
  EXPECT_EQ(decode.source, UntracedSource::control_launches);
  EXPECT_EQ(decode.wall, 555);
  EXPECT_EQ(decode.added, 45);
  EXPECT_EQ(decode.idle, 105);
  EXPECT_EQ(decode.per_step, 185);
  EXPECT_EQ(decode.passes, 6U);
  EXPECT_EQ(decode.instances, 2U);
  EXPECT_EQ(decode.all_passes, 0U);
  EXPECT_DOUBLE_EQ(untraced_parts(decode).at("hidden CUDA graphs"), 450);
}

}  // namespace llmprof::analysis
