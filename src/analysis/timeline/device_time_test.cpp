#include "analysis/timeline/timeline.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

using profile::to_nanoseconds;
using CauseTimes = std::map<std::string, Nanoseconds>;

std::vector<profile::DeviceTime> times_of(TestTrace& t) {
  const trace::Trace& trace = t.freeze();
  std::vector<profile::DeviceTime> rows;
  const auto times = std::get<DeviceTimes>(
      device_times(trace, DescribedNames(trace, TestTrace::rules()), BudgetBasis(trace)));
  for (const auto& [device, row] : times) rows.push_back(row);
  return rows;
}

CauseTimes causes_of(const profile::DeviceTime& time) {
  CauseTimes causes;
  for (const profile::IdleCause& each : time.idle_causes) {
    if (each.time.value != 0) {
      causes[std::string(to_string(each.cause))] = to_nanoseconds(each.time);
    }
  }
  return causes;
}

// all_reduce 0-100 contains gemm 20-40 and mul 30-50; a copy 90-130 is partly covered by norm
// 110-120. There are no stages.
TEST(TimeOfDevices, TellsOverlapsApart) {
  TestTrace t;
  t.kernel("all_reduce", 0, 100);
  t.kernel("gemm", 20, 40);
  t.kernel("mul", 30, 50);
  t.copy(90, 130);
  t.kernel("norm", 110, 120);
  t.kernel("gemm", 150, 160);
  const std::vector<profile::DeviceTime> times = times_of(t);
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(to_nanoseconds(times[0].span), 160);
  EXPECT_EQ(to_nanoseconds(times[0].busy), 140);
  EXPECT_EQ(to_nanoseconds(times[0].compute), 50);
  EXPECT_EQ(to_nanoseconds(times[0].communication), 100);
  EXPECT_EQ(to_nanoseconds(times[0].overlapped_communication), 30);
  EXPECT_EQ(to_nanoseconds(times[0].exposed_communication), 70);
  EXPECT_EQ(to_nanoseconds(times[0].copies), 40);
  EXPECT_EQ(to_nanoseconds(times[0].overlapped_copies), 20);
  EXPECT_EQ(to_nanoseconds(times[0].exposed_copies), 20);
  EXPECT_EQ(to_nanoseconds(times[0].idle), 20);
  EXPECT_EQ(causes_of(times[0]), (CauseTimes{{"unattributed", 20}}));  // no launch was recorded
}

// The gap 20-100: synchronization until 30, host until 80, launched [80, 82). The gap 110-120
// follows a timely launch.
TEST(TimeOfDevices, SplitsIdleTimeByCause) {
  TestTrace t;
  t.launched("gemm", 5, 10, 20);
  t.call("cudaStreamSynchronize", 12, 30);
  t.launched("gemm", 80, 100, 110);
  t.launched("gemm", 85, 120, 130);
  const std::vector<profile::DeviceTime> times = times_of(t);
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(to_nanoseconds(times[0].idle), 90);
  EXPECT_EQ(causes_of(times[0]), (CauseTimes{{"idle: synchronisation", 10},
                                             {"idle: host between launches", 50},
                                             {"idle: launch-bound", 20},
                                             {"idle: between queued kernels", 10}}));
  for (const profile::IdleCause& each : times[0].idle_causes) {
    const bool largest =
        each.cause == BudgetPart::idle_host || each.cause == BudgetPart::idle_queued;
    EXPECT_EQ(each.gaps, largest ? 1U : 0U);
  }
}

// Each piece of work records why the GPU was idle before it.
TEST(TimeOfDevices, NamesTheCauseOfEachGap) {
  TestTrace t;
  t.launched("gemm", 5, 10, 20);
  t.call("cudaStreamSynchronize", 12, 30);
  t.launched("gemm", 80, 100, 110);
  t.launched("gemm", 85, 105, 115);
  t.launched("gemm", 86, 120, 130);
  t.copy(150, 160);
  const trace::Trace& trace = t.freeze();
  const auto before = std::get<IdleBefore>(
      device_times(trace, DescribedNames(trace, TestTrace::rules()), BudgetBasis(trace)));
  const auto number = [](BudgetPart part) { return static_cast<uint8_t>(part); };
  EXPECT_EQ(before.kernel,
            (std::vector<uint8_t>{IdleBefore::kNotIdle, number(BudgetPart::idle_host),
                                  IdleBefore::kNotIdle, number(BudgetPart::idle_queued)}));
  EXPECT_EQ(before.memory_operation, (std::vector<uint8_t>{number(BudgetPart::unattributed)}));
}

TEST(TimeOfDevices, KeepsDevicesApartAndCountsHiddenGraphsAsCompute) {
  TestTrace t;
  t.replay(0, 50, 0);
  t.kernel("gemm", 10, 20, 0, 1);
  t.kernel("gemm", 30, 40, 0, 1);
  const std::vector<profile::DeviceTime> times = times_of(t);
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(to_nanoseconds(times[0].compute), 50);
  EXPECT_EQ(to_nanoseconds(times[0].idle), 0);
  EXPECT_EQ(to_nanoseconds(times[1].span), 30);
  EXPECT_EQ(to_nanoseconds(times[1].busy), 20);
  EXPECT_EQ(to_nanoseconds(times[1].idle), 10);
}

// Untraced from 30 to 60: whether the GPU was idle then is unknown.
TEST(TimeOfDevices, LeavesOutWhatWasNotTraced) {
  TestTrace t;
  t.tracing_changes(0, true);
  t.tracing_changes(30, false);
  t.tracing_changes(60, true);
  t.launched("gemm", 5, 10, 20);
  t.launched("gemm", 70, 80, 90);
  const std::vector<profile::DeviceTime> times = times_of(t);
  ASSERT_EQ(times.size(), 1U);
  const profile::DeviceTime& time = times[0];
  ASSERT_TRUE(time.not_traced);
  EXPECT_GT(time.not_traced->value, 0);
  EXPECT_EQ(
      to_nanoseconds(time.busy) + to_nanoseconds(time.idle) + to_nanoseconds(*time.not_traced),
      to_nanoseconds(time.span));
  Nanoseconds idle = 0;
  for (const auto& [cause, part] : causes_of(time)) idle += part;
  EXPECT_EQ(idle, to_nanoseconds(time.idle));
}

}  // namespace
}  // namespace llmprof::analysis
