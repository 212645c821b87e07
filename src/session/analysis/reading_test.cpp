#include "session/analysis/reading.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "base/needed.h"
#include "base/text.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::session {
namespace {

namespace fs = std::filesystem;
using testing::test_data;

const fs::path kGpuLog = test_data("collector_log/cuda.llmtrace");
const fs::path kCpuLog = test_data("cpu-llm/collector/1.llmtrace");
const fs::path kExport = test_data("h200-runs/llama_1b/nsys/run.sqlite");
const fs::path kNcu = test_data("h200-runs/llama_1b/ncu/raw.csv");
const fs::path kMetrics = test_data("h200-runs/llama_1b/stage1/metrics.json");

Input of_run(const fs::path& path, RunRole role) { return {path, false, 0, role}; }
Input log(const fs::path& path) { return of_run(path, RunRole::log); }
Input nsys(const fs::path& path) { return of_run(path, RunRole::nsys); }
Input other(const fs::path& path) { return of_run(path, RunRole::other); }

// Counts how often each file is handed to a reader.
class CountedReads : public Progress {
 public:
  void begin_reading(std::string_view what, uint64_t /*bytes*/) override {
    constexpr std::string_view kPrefix = "reading ";
    what.remove_prefix(kPrefix.size());
    ++reads[fs::path(what.substr(0, what.rfind(" (")))];
  }
  std::map<fs::path, int> reads;
};

class ReadingTest : public ::testing::Test {
 protected:
  void add(Reading& reading, const std::vector<Input>& inputs) {
    OutputFolder out(folder_.path() / "out", false);
    reading.add(inputs, out, counted_);
  }
  Reading all_at_once(const std::vector<Input>& inputs) {
    Reading reading;
    add(reading, inputs);
    return reading;
  }

  testing::TemporaryFolder folder_;
  CountedReads counted_;
};

FrozenReading frozen(Reading reading) {
  const Diagnostics notes = reading.notes();
  return std::move(reading).freeze(notes);
}

std::vector<fs::path> captures(const trace::Trace& trace) {
  std::vector<fs::path> paths;
  for (const trace::Capture& capture : trace.captures) paths.emplace_back(capture.path);
  return paths;
}

std::vector<std::string> messages_of(const trace::Trace& trace) {
  std::vector<std::string> lines;
  for (const Diagnostic& item : trace.diagnostics.items()) {
    lines.push_back(item.code + " " + item.message + " " + std::to_string(item.count));
  }
  return lines;
}

void expect_same(const trace::Trace& a, const trace::Trace& b) {
  EXPECT_EQ(captures(a), captures(b));
  EXPECT_EQ(messages_of(a), messages_of(b));
  EXPECT_EQ(a.kernels.start, b.kernels.start);
  EXPECT_EQ(a.kernels.launch, b.kernels.launch);
  EXPECT_EQ(a.launches.start, b.launches.start);
  EXPECT_EQ(a.ranges.start, b.ranges.start);
  EXPECT_EQ(a.profiled_launches.size(), b.profiled_launches.size());
  EXPECT_EQ(a.metric_values.size(), b.metric_values.size());
  ASSERT_EQ(a.kernels.size(), b.kernels.size());
  for (size_t i = 0; i < a.kernels.size(); ++i) {
    ASSERT_EQ(a.strings[a.kernels.name[i]], b.strings[b.kernels.name[i]]);
  }
}

TEST_F(ReadingTest, WhatIsAddedInStepsIsTheSameAndReadOnce) {
  const std::vector<Input> run = {nsys(kExport), other(kNcu), other(kMetrics)};
  Reading steps;
  add(steps, {run[0]});
  const trace::Trace before = frozen(steps).trace;  // as a run does to select kernels
  EXPECT_GT(before.kernels.size(), 0U);
  EXPECT_EQ(before.profiled_launches.size(), 0U);
  add(steps, run);
  EXPECT_EQ(counted_.reads, (std::map<fs::path, int>{{kExport, 1}, {kNcu, 1}, {kMetrics, 1}}));
  const FrozenReading in_steps = frozen(steps);
  EXPECT_GT(in_steps.trace.profiled_launches.size(), 0U);
  expect_same(in_steps.trace, frozen(all_at_once(run)).trace);
}

TEST_F(ReadingTest, ACopyOutlivesWhatItWasCopiedFrom) {
  auto original = std::make_unique<Reading>();
  add(*original, {log(kGpuLog)});
  Reading copy = *original;
  const FrozenReading first = frozen(std::move(*original));
  original.reset();
  expect_same(frozen(std::move(copy)).trace, first.trace);
}

TEST_F(ReadingTest, LogsWithGpuWorkAreTheTimeline) {
  Reading reading;
  add(reading, {log(kGpuLog)});
  add(reading, {log(kGpuLog), nsys(kExport)});
  EXPECT_EQ(counted_.reads, (std::map<fs::path, int>{{kGpuLog, 1}}));
  const trace::Trace trace = frozen(reading).trace;
  EXPECT_EQ(captures(trace), std::vector<fs::path>{kGpuLog});
  ASSERT_TRUE(trace.diagnostics.has("capture_passed_over"));
  EXPECT_TRUE(contains(messages_of(trace).back(), kExport.string())) << messages_of(trace).back();
}

TEST_F(ReadingTest, NsysReplacesLogsWithCpuWorkAlone) {
  Reading reading;
  add(reading, {log(kCpuLog)});
  add(reading, {log(kCpuLog), nsys(kExport)});
  EXPECT_EQ(counted_.reads, (std::map<fs::path, int>{{kCpuLog, 1}, {kExport, 1}}));
  const trace::Trace trace = frozen(reading).trace;
  EXPECT_EQ(captures(trace), std::vector<fs::path>{kExport});
  EXPECT_TRUE(contains(messages_of(trace).back(), kCpuLog.string())) << messages_of(trace).back();
}

TEST_F(ReadingTest, LogsWithCpuWorkStayBesideAnExportWithoutAny) {
  const fs::path broken = folder_.write("run.sqlite", "SQLite format 3");
  const Reading reading = all_at_once({log(kCpuLog), nsys(broken)});
  const trace::Trace trace = frozen(reading).trace;
  EXPECT_EQ(captures(trace), std::vector<fs::path>{kCpuLog});
  EXPECT_TRUE(contains(messages_of(trace).back(), broken.string())) << messages_of(trace).back();
}

TEST_F(ReadingTest, ReplacesTheLogsOfOneRunAlone) {
  Input second_log = log(kCpuLog);
  Input second_export = nsys(kExport);
  second_log.run = second_export.run = 1;
  const Reading reading = all_at_once({log(kGpuLog), second_log, second_export});
  EXPECT_EQ(counted_.reads, (std::map<fs::path, int>{{kGpuLog, 1}, {kCpuLog, 1}, {kExport, 1}}));
  EXPECT_EQ(captures(frozen(reading).trace), (std::vector<fs::path>{kGpuLog, kExport}));
}

TEST_F(ReadingTest, NothingThatCanBeReadIsAnError) {
  Reading reading = all_at_once({other(folder_.write("notes.txt", "words"))});
  EXPECT_THROW((void)std::move(reading).freeze({}), Failure);
  EXPECT_THROW((void)Reading().freeze({}), Failure);
}

}  // namespace
}  // namespace llmprof::session
