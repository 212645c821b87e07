#include "capture/ncu/ncu_capture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/text.h"
#include "capture/ncu/ncu_runs.h"
#include "testing/read_capture.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

using namespace std::chrono_literals;
using std::filesystem::path;
using testing::file_bytes;
using testing::TemporaryFolder;

// A fake ncu in its own folder, and a bundle.
class NcuCaptureTest : public ::testing::Test {
 protected:
  NcuCaptureTest() {
    std::filesystem::create_symlink(
        std::filesystem::absolute(testing::test_data("../fakes/ncu_profile/ncu"))
            .lexically_normal(),
        ncu_.path);
    behave("well");
    request_.bundle = folder_.path() / "bundle";
    request_.workload.argv = {"/bin/sh", "-c", "echo the program ran"};
    request_.limits.grace = 100ms;
    request_.kernels = {
        {"void gemm<(int)8>(T1 *, \"quoted\")", "", "decode", "LLM@decode_all/", 80, 8},
        {"norm(float *)", "", "decode", "LLM@decode_all/", 40, 4}};
  }

  void behave(std::string_view how) const { folder_.write("behavior", how); }
  CaptureResult capture() const { return capture_with_ncu(ncu_, request_); }
  [[nodiscard]] std::string calls() const {
    return std::filesystem::exists(folder_.path() / "calls") ? file_bytes(folder_.path() / "calls")
                                                             : "";
  }
  // Calls that ran the workload.
  [[nodiscard]] size_t profiled() const {
    const std::string text = calls();
    size_t count = 0;
    for (size_t at = 0; (at = text.find("--target-processes", at)) != std::string::npos; ++at) {
      ++count;
    }
    return count;
  }
  [[nodiscard]] bool made(const char* file) const {
    return std::filesystem::exists(request_.bundle / "ncu" / file);
  }
  [[nodiscard]] size_t launches_in(const char* file) const {
    const auto trace = testing::read_capture(request_.bundle / "ncu" / file);
    EXPECT_TRUE(trace) << trace.error().message;
    return trace ? trace->profiled_launches.size() : 0;
  }
  void add_prefill() {
    request_.kernels.push_back({"norm(float *)", "", "prefill", "LLM@prefill/", 4, 0});
  }
  // Moves the capture as `run --force` does, and returns where it is now.
  [[nodiscard]] path move_aside() const {
    path aside = request_.bundle / "previous-1" / "ncu";
    std::filesystem::create_directories(aside.parent_path());
    std::filesystem::rename(request_.bundle / "ncu", aside);
    return aside;
  }
  void expect_nothing_half_written() const {
    for (const auto& entry : std::filesystem::directory_iterator(request_.bundle / "ncu")) {
      const std::string name = entry.path().filename().string();
      EXPECT_FALSE(contains(name, ".part") || name.ends_with(".tmp")) << name;
    }
  }
  // Expects a failure of kind tool with these words that leaves no partial files.
  void expect_failure(std::string_view words) const {
    const CaptureResult result = capture();
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.failure->kind, ErrorKind::tool);
    EXPECT_TRUE(contains(result.failure->message, words)) << result.failure->message;
    EXPECT_FALSE(made("raw.csv"));
    EXPECT_TRUE(made("sections.txt"));
    expect_nothing_half_written();
  }

  TemporaryFolder folder_;
  InstalledTool ncu_{folder_.path() / "ncu", "2025.3.1.0"};
  NcuRequest request_;
};

TEST_F(NcuCaptureTest, LeavesReportsTablesAndTheirUnion) {
  add_prefill();
  const CaptureResult result = capture();
  EXPECT_FALSE(result.failure) << result.failure->message;
  const std::vector<path> files = {"ncu/sections.txt",    "ncu/decode.ncu-rep",
                                   "ncu/decode_raw.csv",  "ncu/prefill.ncu-rep",
                                   "ncu/prefill_raw.csv", "ncu/raw.csv"};
  EXPECT_EQ(result.files, files);
  for (const path& file : files) EXPECT_TRUE(std::filesystem::exists(request_.bundle / file));
  for (const char* file : {"cmd.txt", "status.json", "decode.log"}) EXPECT_TRUE(made(file)) << file;
  EXPECT_EQ(launches_in("decode_raw.csv"), 2U);
  EXPECT_EQ(launches_in("raw.csv"), 4U);
  EXPECT_TRUE(contains(file_bytes(request_.bundle / "ncu/decode.log"), "the program ran"));
  EXPECT_TRUE(contains(calls(), "--nvtx-include LLM@decode_all/"));
  EXPECT_TRUE(contains(calls(), "--nvtx-include LLM@prefill/"));
  EXPECT_TRUE(contains(calls(), "--rename-kernels off"));
  EXPECT_FALSE(result.notes.has("ncu_kernel_not_seen"));
  expect_nothing_half_written();
}

TEST_F(NcuCaptureTest, WithoutATimelineStillYieldsATable) {
  request_.kernels.clear();
  const CaptureResult result = capture();
  EXPECT_FALSE(result.failure);
  EXPECT_TRUE(made("all.ncu-rep"));
  EXPECT_EQ(launches_in("raw.csv"), 2U);
}

TEST_F(NcuCaptureTest, SaysWhichChosenKernelsWereNotSeen) {
  request_.kernels.push_back({"absent(int)", "", "decode", "LLM@decode_all/", 4, 0});
  EXPECT_TRUE(capture().notes.has("ncu_kernel_not_seen"));
}

TEST_F(NcuCaptureTest, MeasuresOnceMoreWhatItLostByCountingShapes) {
  behave("loses");
  const CaptureResult result = capture();
  EXPECT_FALSE(result.failure);
  EXPECT_FALSE(result.notes.has("ncu_kernel_not_seen"));
  EXPECT_EQ(profiled(), 2U);
  for (const char* file : {"decode_lost.ncu-rep", "decode_lost_raw.csv"}) EXPECT_TRUE(made(file));
  EXPECT_EQ(launches_in("decode_raw.csv"), 1U);
  // The fake measures both kernels again: the one measured before counts once.
  EXPECT_EQ(launches_in("decode_lost_raw.csv"), 2U);
  EXPECT_EQ(launches_in("raw.csv"), 2U);
  // For the lost kernel alone, in the same range, counted plainly: 40 launches of one shape, so
  // twice the period of one launch, plus one, includes it.
  const std::string text = calls();
  const std::string again = text.substr(text.rfind("--target-processes"));
  EXPECT_TRUE(contains(again, "--nvtx-include LLM@decode_all/")) << again;
  EXPECT_TRUE(contains(again, "norm") && contains(again, "$ --launch-count 3 ")) << again;
  EXPECT_FALSE(contains(again, "gemm")) << again;
  EXPECT_FALSE(contains(again, "per-launch-config")) << again;
  expect_nothing_half_written();

  EXPECT_FALSE(made("finished.txt"));  // nothing is left to continue
}

TEST_F(NcuCaptureTest, SaysWhatAlsoTheSecondRunLost) {
  behave("loses_always");
  const CaptureResult result = capture();
  EXPECT_FALSE(result.failure);
  EXPECT_EQ(profiled(), 2U);
  EXPECT_EQ(launches_in("raw.csv"), 1U);
  size_t lost = 0;
  for (const Diagnostic& note : result.notes.items()) {
    if (note.code != "ncu_kernel_not_seen") continue;
    ++lost;
    EXPECT_TRUE(contains(note.message, "decode_lost: ncu measured no launch of norm(float *)"));
  }
  EXPECT_EQ(lost, 1U);
}

TEST_F(NcuCaptureTest, WhatPlainCountingMissedIsNotRunAgain) {
  behave("loses_always");
  request_.options.launch_count = 4;
  const CaptureResult result = capture();
  EXPECT_EQ(profiled(), 1U);
  EXPECT_TRUE(result.notes.has("ncu_kernel_not_seen"));
}

TEST_F(NcuCaptureTest, CountsWhereTheRangeNeverOpened) {
  behave("nothing_when_gated");
  const CaptureResult result = capture();
  EXPECT_FALSE(result.failure);
  EXPECT_TRUE(result.notes.has("ncu_not_gated"));
  EXPECT_TRUE(contains(calls(), "--launch-skip 12 --launch-count "));
  EXPECT_EQ(profiled(), 2U);
  EXPECT_EQ(launches_in("raw.csv"), 2U);
}

TEST_F(NcuCaptureTest, LeavesOutSectionsThatItDoesNotKnow) {
  behave("no_section");
  request_.options.sections = {"NoSuch", "Occupancy"};
  add_prefill();
  const CaptureResult result = capture();
  EXPECT_FALSE(result.failure);
  EXPECT_TRUE(result.notes.has("ncu_no_such_section"));
  EXPECT_EQ(profiled(), 3U);  // decode twice, prefill without it at once
  EXPECT_TRUE(contains(calls(), "--section Occupancy"));
}

TEST_F(NcuCaptureTest, PrintsTheTableWhereThereIsNoReport) {
  for (const char* how : {"no_report", "import_fails"}) {
    behave(how);
    std::filesystem::remove_all(request_.bundle);
    const CaptureResult result = capture();
    EXPECT_FALSE(result.failure) << how << ": " << result.failure->message;
    EXPECT_TRUE(result.notes.has("ncu_live_csv")) << how;
    EXPECT_EQ(launches_in("decode_raw.csv"), 2U);
    EXPECT_EQ(made("decode.ncu-rep"), std::string_view(how) == "import_fails");
    expect_nothing_half_written();
  }
}

TEST_F(NcuCaptureTest, ContinuesWhatTheSameCommandCaptured) {
  behave("prefill_fails");
  add_prefill();
  const CaptureResult first = capture();
  ASSERT_TRUE(first.failure);
  EXPECT_TRUE(contains(first.failure->message, "ncu, prefill: ncu failed (exit code 9)"))
      << first.failure->message;
  EXPECT_EQ(launches_in("raw.csv"), 2U);
  EXPECT_EQ(profiled(), 2U);
  EXPECT_TRUE(made("finished.txt"));
  behave("well");
  const path earlier = move_aside();
  request_.interrupted = earlier;
  const CaptureResult second = capture();
  EXPECT_FALSE(second.failure);
  EXPECT_TRUE(second.notes.has("ncu_resumed"));
  EXPECT_EQ(profiled(), 3U);
  EXPECT_EQ(launches_in("raw.csv"), 4U);
  EXPECT_NE(std::find(second.files.begin(), second.files.end(), "ncu/decode_raw.csv"),
            second.files.end());
  EXPECT_TRUE(made("decode.ncu-rep"));
  EXPECT_TRUE(std::filesystem::exists(earlier / "decode.ncu-rep"));  // unchanged
  EXPECT_FALSE(made("finished.txt"));  // it is complete: nothing is left to continue
  request_.options.set = "full";
  EXPECT_FALSE(capture().notes.has("ncu_resumed"));
  EXPECT_EQ(profiled(), 5U);
}

TEST_F(NcuCaptureTest, ContinuesNothingByItself) {
  behave("prefill_fails");
  add_prefill();
  ASSERT_TRUE(capture().failure);
  behave("well");
  (void)move_aside();
  EXPECT_FALSE(capture().notes.has("ncu_resumed"));
  EXPECT_EQ(profiled(), 4U);
}

TEST_F(NcuCaptureTest, PermissionEndsAllAtOnce) {
  behave("permission");
  add_prefill();
  expect_failure("NVreg_RestrictProfilingToAdminUsers=0");
  EXPECT_EQ(profiled(), 1U);
}

TEST_F(NcuCaptureTest, SaysHowToFreeTheCounters) {
  behave("in_use");
  expect_failure("dcgmi profile --pause");
}

TEST_F(NcuCaptureTest, SaysThatThereIsNoDriver) {
  behave("no_driver");
  expect_failure("found no CUDA driver");
  EXPECT_EQ(profiled(), 1U);
}

TEST_F(NcuCaptureTest, NamesTheFilterThatMatchedNothing) {
  behave("nothing");
  expect_failure("profiled no kernel (filter: 2 kernels by name, --launch-skip 12");
  EXPECT_EQ(profiled(), 2U);
}

TEST_F(NcuCaptureTest, DistinguishesTheWorkloadsFailureFromItsOwn) {
  behave("workload_fails");
  request_.workload.argv = {"/bin/sh", "-c", "exit 3"};
  expect_failure("the workload failed under ncu with exit code 3");
}

TEST_F(NcuCaptureTest, KeepsWhatAFailingWorkloadLeft) {
  request_.workload.argv = {"/bin/sh", "-c", "exit 3"};
  const CaptureResult result = capture();
  EXPECT_FALSE(result.failure);
  EXPECT_TRUE(result.notes.has("ncu_workload_failed"));
  EXPECT_EQ(launches_in("raw.csv"), 2U);
}

TEST_F(NcuCaptureTest, EveryOtherFailureHasItsMessage) {
  const std::vector<std::pair<const char*, const char*>> failures = {
      {"crash", "ncu crashed: killed by signal 11"},
      {"silent", "ncu ended without a report; it printed nothing"},
      {"wrong_option", "the argument for option '--clock-control' is invalid"},
      {"babble", "ncu failed: exit code 3; it printed \"Hello from something else\""},
      {"garbage", "decode.ncu-rep` gave no table (exit code 1: "},
  };
  for (const auto& [how, words] : failures) {
    std::filesystem::remove_all(request_.bundle);
    behave(how);
    SCOPED_TRACE(how);
    expect_failure(words);
  }
}

// Six launches are wanted: three of each kernel, with one shape each.
TEST_F(NcuCaptureTest, EndsTheProgramOnceItsLaunchesAreMeasured) {
  behave("measures_first");
  folder_.write("measured", "6");
  request_.workload.argv = {"/bin/sh", "-c", "sleep 300"};
  request_.limits.timeout = 60s;
  const CaptureResult result = capture();
  EXPECT_FALSE(result.failure) << result.failure->message;
  EXPECT_EQ(launches_in("raw.csv"), 2U);
  EXPECT_TRUE(result.notes.items().empty());
  const auto run = std::find_if(result.commands.begin(), result.commands.end(),
                                [](const auto& record) { return record.name == "decode"; });
  ASSERT_NE(run, result.commands.end());
  EXPECT_TRUE(run->asked_to_stop);
  EXPECT_EQ(run->result.end, ProcessEnd::exited);
  EXPECT_LT(run->result.duration, 30s);
}

TEST_F(NcuCaptureTest, LetsTheProgramGoOnWhereLaunchesAreMissing) {
  behave("measures_first");
  folder_.write("measured", "5");
  request_.workload.argv = {"/bin/sh", "-c", "sleep 0.7; echo the program ran on"};
  const CaptureResult result = capture();
  EXPECT_FALSE(result.failure);
  EXPECT_TRUE(contains(file_bytes(request_.bundle / "ncu/decode.log"), "the program ran on"));
}

TEST_F(NcuCaptureTest, LetsTheProgramGoOnWhereThatIsWanted) {
  behave("measures_first");
  folder_.write("measured", "6");
  request_.options.stop_when_measured = false;
  request_.workload.argv = {"/bin/sh", "-c", "sleep 0.7; echo the program ran on"};
  const CaptureResult result = capture();
  EXPECT_FALSE(result.failure);
  EXPECT_TRUE(contains(file_bytes(request_.bundle / "ncu/decode.log"), "the program ran on"));
}

TEST_F(NcuCaptureTest, KeepsWhatWasMeasuredUntilTheTimeLimit) {
  behave("measures_first");
  folder_.write("measured", "2");
  request_.workload.argv = {"/bin/sh", "-c", "sleep 300"};
  request_.until = std::chrono::steady_clock::now() + 500ms;
  add_prefill();
  const CaptureResult result = capture();
  EXPECT_FALSE(result.failure);
  EXPECT_EQ(launches_in("decode_raw.csv"), 2U);
  EXPECT_FALSE(made("prefill_raw.csv"));
  EXPECT_EQ(profiled(), 1U);
  ASSERT_EQ(result.notes.items().size(), 1U);
  EXPECT_EQ(result.notes.items().front().code, "ncu_time_limit");
}

TEST_F(NcuCaptureTest, MeasuresNothingBeyondTheTimeLimit) {
  behave("nothing");
  request_.workload.argv = {"/bin/sh", "-c", "sleep 300"};
  request_.until = std::chrono::steady_clock::now() + 300ms;
  add_prefill();
  const CaptureResult result = capture();
  EXPECT_FALSE(result.failure);
  EXPECT_FALSE(made("raw.csv"));
  EXPECT_EQ(profiled(), 1U);
  ASSERT_EQ(result.notes.items().size(), 2U);
  EXPECT_TRUE(contains(result.notes.items().front().message, "decode: not measured by ncu"));
  expect_nothing_half_written();
}

TEST_F(NcuCaptureTest, EndsOneThatHangs) {
  behave("hang");
  request_.limits.timeout = 300ms;
  expect_failure("ncu did not finish");
}

TEST_F(NcuCaptureTest, EndsOnRequest) {
  behave("hang");
  std::atomic<bool> stop = false;
  request_.limits.stop = &stop;
  request_.limits.timeout = 20s;
  add_prefill();
  CaptureResult result;
  std::atomic<bool> over = false;
  std::thread capturing([&] {
    result = capture();
    over = true;
  });
  while (profiled() == 0 && !over) std::this_thread::sleep_for(5ms);
  stop = true;
  capturing.join();
  ASSERT_TRUE(result.failure);
  EXPECT_TRUE(contains(result.failure->message, "interrupted")) << result.failure->message;
  EXPECT_EQ(profiled(), 1U);
}

TEST_F(NcuCaptureTest, SurvivesHugeOutput) {
  behave("huge");
  const CaptureResult result = capture();
  EXPECT_FALSE(result.failure);
  EXPECT_EQ(launches_in("raw.csv"), 2U);
}

TEST_F(NcuCaptureTest, HoldsToTheSizeLimit) {
  behave("huge");
  request_.workload.argv = {"/bin/sh", "-c", "head -c 9000000 /dev/zero; exec sleep 60"};
  request_.limits.max_bytes = 1'000'000;
  expect_failure("beyond the size limit");
}

TEST_F(NcuCaptureTest, SaysThatNcuIsGone) {
  ncu_.path = folder_.path() / "nothing_here";
  add_prefill();
  const CaptureResult result = capture();
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->kind, ErrorKind::tool);
  EXPECT_TRUE(contains(result.failure->message, "could not be started: No such file"))
      << result.failure->message;
}

TEST_F(NcuCaptureTest, SaysThatTheFolderCannotBeWritten) {
  request_.bundle = folder_.write("a_file", "");
  const CaptureResult result = capture();
  ASSERT_TRUE(result.failure);
  EXPECT_TRUE(contains(result.failure->message, "cannot write")) << result.failure->message;
  EXPECT_EQ(profiled(), 0U);
}

TEST_F(NcuCaptureTest, PlanTellsCommandsFilesAndTime) {
  add_prefill();
  request_.workload_time = 10s;
  const CapturePlan plan = plan_ncu(ncu_, request_);
  EXPECT_EQ(plan.backend, "ncu");
  const auto first = std::find_if(plan.commands.begin(), plan.commands.end(),
                                  [](const auto& command) { return command.name == "decode"; });
  ASSERT_NE(first, plan.commands.end());
  EXPECT_EQ(first->argv.back(), "echo the program ran");
  EXPECT_EQ(plan.files.back(), "ncu/sections.txt");
  // Two runs of 0.8 x 10 s; 2 x 3 and 3 launches, 17 passes of 37 ms each.
  ASSERT_TRUE(plan.estimate);
  EXPECT_NEAR(static_cast<double>(plan.estimate->count()), 16 + 9 * 17 * 0.037, 1);
  EXPECT_TRUE(contains(plan.notes.front(), "about 6 launches, each replayed in about 17 passes"))
      << plan.notes.front();
  EXPECT_EQ(profiled(), 0U);
}

}  // namespace
}  // namespace llmprof::capture
