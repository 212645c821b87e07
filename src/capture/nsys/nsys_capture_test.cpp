#include "capture/nsys/nsys_capture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/text.h"
#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

using namespace std::chrono_literals;
using std::filesystem::path;
using testing::file_bytes;
using testing::TemporaryFolder;
using Words = std::vector<std::string>;

bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(NsysTraceLadder, DropsWhatCostsMostFirst) {
  NsysOptions options;
  EXPECT_EQ(nsys_trace_ladder(options),
            (std::vector<Words>{{"cuda", "nvtx", "osrt"}, {"cuda", "nvtx"}, {"cuda"}}));
  options.trace = {"nvtx", "osrt"};
  EXPECT_EQ(nsys_trace_ladder(options), (std::vector<Words>{{"nvtx", "osrt"}, {"nvtx"}}));
  options.trace = {"cuda"};
  EXPECT_EQ(nsys_trace_ladder(options), (std::vector<Words>{{"cuda"}}));
  options.gating_nvtx = true;
  options.trace = {"cuda", "osrt"};
  EXPECT_EQ(nsys_trace_ladder(options),
            (std::vector<Words>{{"cuda", "osrt", "nvtx"}, {"cuda", "nvtx"}}));
}

TEST(BuildNsysCmd, IsAnArgumentList) {
  const NsysOptions options;
  const Words argv = build_nsys_cmd({"/opt/nsys", "2022.4.2.1"}, options, options.trace,
                                    "/b/100%/run", {"python", "a b.py"});
  EXPECT_EQ(argv,
            (Words{"/opt/nsys", "profile", "--trace=cuda,nvtx,osrt", "--sample=none",
                   "--cpuctxsw=none", "--cuda-graph-trace=node", "--trace-fork-before-exec=true",
                   "--force-overwrite=true", "-o", "/b/100%%/run", "python", "a b.py"}));
}

TEST(BuildNsysCmd, GatesAndLeavesOutWhatAVersionLacks) {
  NsysOptions options;
  options.gating_nvtx = true;
  options.sample = "cpu";
  options.extra_arguments = {"--cuda-memory-usage=true"};
  const Words argv =
      build_nsys_cmd({"/opt/nsys", "2021.3.1"}, options, {"cuda", "nvtx"}, "/b/run", {"true"});
  EXPECT_TRUE(has(argv, "--capture-range=nvtx"));
  EXPECT_TRUE(has(argv, "--nvtx-capture=decode_all@LLM"));
  EXPECT_TRUE(has(argv, "--capture-range-end=stop"));
  EXPECT_TRUE(has(argv, "--sample=process-tree"));
  EXPECT_TRUE(has(argv, "--cuda-memory-usage=true"));
  EXPECT_FALSE(has(argv, "--cpuctxsw=none"));
  EXPECT_FALSE(has(argv, "--cuda-graph-trace=node"));
}

// As nsys 2022.4 and 2025.3 print them, shortened.
TEST(ChooseNsysReports, TakesOldAndNewNames) {
  EXPECT_EQ(choose_nsys_reports("The following built-in reports are available:\n\n"
                                "  cudaapisum -- CUDA API Summary\n"
                                "  gpukernsum[:base|:mangled] -- CUDA GPU Kernel Summary\n"
                                "  gputrace -- CUDA GPU Trace\n"
                                "  nvtxsum -- NVTX Range Summary\n"),
            (Words{"gpukernsum", "cudaapisum", "nvtxsum"}));
  EXPECT_EQ(choose_nsys_reports("  cuda_api_sum[:base] -- CUDA API Summary\n"
                                "  cuda_gpu_kern_sum[:nvtx-name][:base|:mangled] -- Kernels\n"
                                "  nvtx_sum -- NVTX Range Summary"),
            (Words{"cuda_gpu_kern_sum", "cuda_api_sum", "nvtx_sum"}));
  EXPECT_TRUE(choose_nsys_reports("command not found").empty());
}

class NsysCaptureTest : public ::testing::Test {
 protected:
  NsysCaptureTest() {
    nsys = {std::filesystem::absolute("tests/fakes/nsys_profile/nsys"), "2025.3.1.90"};
    request.bundle = folder.path();
    request.workload.argv = {"/bin/sh", "-c", "echo working in $TMPDIR; exit ${EXIT_CODE:-0}"};
    request.search = {};
    request.search.root = folder.path() / "machine";
    request.search.machine = "x86_64";
  }

  void install_importer() const {
    const path file =
        request.search.root / "opt/nvidia/nsight-systems/2025.3.1/host-linux-x64/QdstrmImporter";
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_symlink(std::filesystem::absolute("tests/fakes/QdstrmImporter"), file);
  }

  CaptureResult capture(const std::string& behavior, const std::string& exit_code = "0") {
    request.environment = {{"FAKE_NSYS", behavior}, {"EXIT_CODE", exit_code}};
    CaptureResult result = capture_with_nsys(nsys, request);
    EXPECT_FALSE(exists("nsys/partial.tmp"));
    if (result.failure) {
      EXPECT_EQ(result.failure->kind, ErrorKind::tool);
    }
    for (const path& file : result.files) EXPECT_TRUE(exists(file)) << file;
    return result;
  }

  // The failure's message must start with `begin` and contain `part`.
  static void expect_failure(const CaptureResult& result, std::string_view begin,
                             std::string_view part) {
    ASSERT_TRUE(result.failure);
    EXPECT_TRUE(result.failure->message.starts_with(begin)) << result.failure->message;
    EXPECT_TRUE(contains(result.failure->message, part)) << result.failure->message;
  }

  [[nodiscard]] bool exists(const path& file) const {
    return std::filesystem::exists(folder.path() / file);
  }
  [[nodiscard]] std::string bytes(const path& file) const {
    return file_bytes(folder.path() / file);
  }
  [[nodiscard]] Words ends() const {
    Words all;
    for (const auto& row : nlohmann::json::parse(bytes("nsys/status.json"))) {
      all.push_back(row["name"].get<std::string>() + " " + row["end"].get<std::string>());
    }
    return all;
  }

  TemporaryFolder folder;
  InstalledTool nsys;
  NsysRequest request;
};

TEST_F(NsysCaptureTest, LeavesReportExportAndStatistics) {
  const CaptureResult result = capture("ok");
  EXPECT_FALSE(result.failure) << result.failure->message;
  EXPECT_TRUE(contains(bytes("nsys/run.nsys-rep"), "trace=cuda,nvtx,osrt"));
  EXPECT_TRUE(bytes("nsys/run.sqlite").starts_with("SQLite format 3"));
  EXPECT_EQ(bytes("nsys/summary_cuda_gpu_kern_sum.csv"), "Time (%),Name\n");
  EXPECT_TRUE(exists("nsys/summary_nvtx_sum.csv"));
  // Without data there is no file.
  EXPECT_FALSE(exists("nsys/summary_cuda_api_sum.csv"));
  EXPECT_EQ(ends(), (Words{"profile exited", "export exited", "stats exited"}));
  ASSERT_EQ(result.commands.size(), 3U);
  EXPECT_TRUE(contains(bytes("nsys/profile.log"), "working in /"));
  EXPECT_FALSE(contains(bytes("nsys/profile.log"), "partial.tmp"))
      << "nsys's scratch folder became the workload's";
  EXPECT_TRUE(contains(bytes("nsys/cmd.txt"), "FAKE_NSYS=ok"));
  EXPECT_NE(std::find(result.files.begin(), result.files.end(), path("nsys/run.sqlite")),
            result.files.end());
}

TEST_F(NsysCaptureTest, ReplacesWhatAnEarlierCaptureLeft) {
  capture("ok");
  const CaptureResult result = capture("crash");
  EXPECT_TRUE(result.failure);
  EXPECT_FALSE(exists("nsys/run.sqlite"));
  EXPECT_FALSE(exists("nsys/run.nsys-rep"));
  EXPECT_TRUE(exists("nsys/profile.log"));
}

TEST_F(NsysCaptureTest, KnowsTheOldName) {
  const CaptureResult result = capture("old_name");
  EXPECT_FALSE(result.failure) << result.failure->message;
  EXPECT_TRUE(exists("nsys/run.qdrep"));
  EXPECT_TRUE(exists("nsys/run.sqlite"));
}

TEST_F(NsysCaptureTest, KeepsEveryReportOfARepeatedRange) {
  const CaptureResult result = capture("twice");
  EXPECT_FALSE(result.failure) << result.failure->message;
  EXPECT_TRUE(contains(bytes("nsys/run.nsys-rep"), "first"));
  EXPECT_TRUE(contains(bytes("nsys/run.sqlite"), "first"));
  EXPECT_TRUE(contains(bytes("nsys/run.2.nsys-rep"), "second"));
  EXPECT_TRUE(contains(bytes("nsys/run.2.sqlite"), "second"));
}

TEST_F(NsysCaptureTest, AWorkloadThatFailsIsReportedAsSuch) {
  const CaptureResult result = capture("ok", "3");
  expect_failure(result, "the workload itself failed under nsys: exit code 3; it printed",
                 (folder.path() / "nsys/profile.log").string());
  EXPECT_TRUE(exists("nsys/run.sqlite"));
  EXPECT_EQ(ends().front(), "profile exited");
  EXPECT_EQ(ends().size(), 3U) << "it is not nsys's fault, so there is no second attempt";
}

TEST_F(NsysCaptureTest, AFileThatNsysItselfMissesIsNotTheWorkloads) {
  expect_failure(capture("no_semaphore"), "nsys failed and left no report: exit code 1",
                 "sem_open");
}

TEST_F(NsysCaptureTest, AMissingWorkloadIsReportedAsSuch) {
  request.workload.argv = {"/nowhere/program"};
  expect_failure(capture("ok"), "nsys could not start the workload '/nowhere/program'",
                 "Correct the workload's command");
  EXPECT_EQ(ends(), Words{"profile exited"});
}

TEST_F(NsysCaptureTest, ClimbsDownTheLadder) {
  const CaptureResult result = capture("crash_with_osrt");
  EXPECT_FALSE(result.failure) << result.failure->message;
  EXPECT_TRUE(contains(bytes("nsys/run.nsys-rep"), "trace=cuda,nvtx\n"));
  EXPECT_TRUE(result.notes.has("nsys_traced_less"));
  EXPECT_EQ(ends(),
            (Words{"profile signalled", "profile-2 exited", "export exited", "stats exited"}));
  EXPECT_TRUE(exists("nsys/profile.log"));
  EXPECT_TRUE(exists("nsys/profile-2.log"));
}

TEST_F(NsysCaptureTest, ACrashIsReported) {
  const CaptureResult result = capture("crash");
  expect_failure(result, "nsys crashed and left no report: killed by signal 11", "LLMPROF_NSYS");
  expect_failure(result, "",
                 "Tried without success: --trace=cuda,nvtx,osrt, --trace=cuda,nvtx, --trace=cuda");
  EXPECT_EQ(ends(), (Words{"profile signalled", "profile-2 signalled", "profile-3 signalled"}));
}

TEST_F(NsysCaptureTest, AnEmptyReportIsNamed) {
  expect_failure(capture("empty"), "nsys left an empty report (exit code 0)",
                 "The disk may be full");
  EXPECT_FALSE(exists("nsys/run.nsys-rep"));
}

TEST_F(NsysCaptureTest, GarbageIsReportedAndKept) {
  expect_failure(capture("garbage"), "nsys left a file that is not an Nsight Systems report",
                 "LLMPROF_NSYS");
  EXPECT_FALSE(exists("nsys/run.nsys-rep"));
  EXPECT_EQ(bytes("nsys/profile-run.nsys-rep.unusable"), "hello\n");
}

TEST_F(NsysCaptureTest, AMissingReportIsNamed) {
  expect_failure(capture("nothing"), "nsys reported success but left no report",
                 "Check the free disk space");
}

TEST_F(NsysCaptureTest, RefusedOptionsAreReported) {
  expect_failure(capture("refused"), "nsys failed and left no report: exit code 1; it printed",
                 "Illegal --trace argument 'cuda'");
}

TEST_F(NsysCaptureTest, AMissingPermissionIsReported) {
  expect_failure(capture("permission"), "nsys is not permitted to profile here: it printed",
                 "kernel.perf_event_paranoid");
}

TEST_F(NsysCaptureTest, AGatedRangeThatNeverBeganIsReported) {
  request.options.gating_nvtx = true;
  const CaptureResult result = capture("nothing");
  expect_failure(
      result,
      "the gated recording never started: no range 'decode_all' of the NVTX domain 'LLM' "
      "began, so nsys wrote no report",
      "nsys.gating_nvtx=false");
  EXPECT_EQ(ends(), Words{"profile exited"}) << "another attempt would end in the same way";
}

TEST_F(NsysCaptureTest, AGatedCaptureTakesPlainStrings) {
  request.options.gating_nvtx = true;
  const CaptureResult result = capture("ok");
  EXPECT_FALSE(result.failure) << result.failure->message;
  EXPECT_TRUE(contains(bytes("nsys/cmd.txt"), "NSYS_NVTX_PROFILER_REGISTER_ONLY=0"));
}

TEST_F(NsysCaptureTest, AHangIsEndedAndWhatItLeavesIsRead) {
  request.limits.timeout = 1s;
  const CaptureResult result = capture("hang");
  expect_failure(result, "the workload under nsys was not finished after 1 s and was ended",
                 "What was recorded until then is kept");
  expect_failure(result, "", "run.timeout_s");
  EXPECT_TRUE(exists("nsys/run.nsys-rep"));
  EXPECT_TRUE(exists("nsys/run.sqlite"));
  EXPECT_EQ(ends().front(), "profile timed_out");
}

TEST_F(NsysCaptureTest, TooMuchOutputIsEnded) {
  request.limits.max_bytes = 3000000;
  const CaptureResult result = capture("huge");
  expect_failure(result, "nsys wrote more than 3 MB, so the recording was ended",
                 "raise run.max_trace_mb");
  EXPECT_EQ(ends(), Words{"profile over_size_limit"});
  EXPECT_TRUE(exists("nsys/profile-nsys-report-1.qdstrm.unusable"));
  EXPECT_FALSE(exists("nsys/run.qdstrm"));
}

TEST_F(NsysCaptureTest, AnInterruptionKeepsTheReport) {
  std::atomic<bool> stop = false;
  request.limits.stop = &stop;
  request.workload.argv = {"/bin/sh", "-c", "sleep 300"};
  std::thread setter([&] {
    while (!exists("nsys/partial.tmp/nsys-report-1.qdstrm")) std::this_thread::sleep_for(10ms);
    stop = true;
  });
  const CaptureResult result = capture("hang");
  setter.join();
  expect_failure(result, "the nsys recording was interrupted", "is kept");
  EXPECT_TRUE(exists("nsys/run.nsys-rep"));
  EXPECT_EQ(ends(), Words{"profile interrupted"});
}

TEST_F(NsysCaptureTest, AStreamIsImported) {
  install_importer();
  const CaptureResult result = capture("stream");
  EXPECT_FALSE(result.failure) << result.failure->message;
  EXPECT_TRUE(exists("nsys/run.nsys-rep"));
  EXPECT_TRUE(exists("nsys/run.sqlite"));
  EXPECT_FALSE(exists("nsys/run.qdstrm"));
  EXPECT_EQ(ends(), (Words{"profile exited", "import exited", "export exited", "stats exited"}));
}

TEST_F(NsysCaptureTest, AStreamWithoutImporterIsKept) {
  const CaptureResult result = capture("stream");
  expect_failure(result, (folder.path() / "nsys/run.qdstrm").string(),
                 "LLMPROF_QDSTRM_IMPORTER to its path");
  EXPECT_TRUE(exists("nsys/run.qdstrm"));
  EXPECT_FALSE(exists("nsys/run.nsys-rep"));
}

TEST_F(NsysCaptureTest, AStreamThatCannotBeImportedIsKept) {
  install_importer();
  const CaptureResult result = capture("bad_stream");
  expect_failure(result, (folder.path() / "nsys/run.qdstrm").string(),
                 "Qdstrm version 2025.3.1.0 is not supported.");
  EXPECT_TRUE(exists("nsys/run.qdstrm"));
}

TEST_F(NsysCaptureTest, AFailingExportKeepsTheReport) {
  const CaptureResult result = capture("bad_export");
  expect_failure(result, (folder.path() / "nsys/run.nsys-rep").string(), "Version not supported");
  EXPECT_TRUE(exists("nsys/run.nsys-rep"));
  EXPECT_TRUE(exists("nsys/export.log"));
}

TEST_F(NsysCaptureTest, FailingStatisticsDoNotFailTheCapture) {
  const CaptureResult result = capture("bad_stats");
  EXPECT_FALSE(result.failure) << result.failure->message;
  EXPECT_TRUE(result.notes.has("nsys_statistics_failed"));
  EXPECT_TRUE(exists("nsys/run.sqlite"));
}

TEST_F(NsysCaptureTest, AReadOnlyBundleIsReported) {
  request.bundle = folder.write("file", "") / "bundle";
  request.environment = {};
  const CaptureResult result = capture_with_nsys(nsys, request);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->kind, ErrorKind::tool);
  EXPECT_TRUE(contains(result.failure->message, "cannot write")) << result.failure->message;
}

TEST_F(NsysCaptureTest, ProfilesAServerForItsClient) {
  const path serve = folder.write("serve", "#!/bin/sh\necho ready\nwhile :; do sleep 0.05; done\n");
  std::filesystem::permissions(serve, std::filesystem::perms::owner_all);
  request.workload.argv = {serve.string()};
  request.workload.server.emplace();
  request.workload.server->ready_log_pattern = "^ready";
  request.workload.server->client = {"echo", "asked"};
  request.workload.server->stop_signal = SIGTERM;
  const CaptureResult result = capture("ok");
  EXPECT_FALSE(result.failure) << result.failure->message;
  EXPECT_TRUE(exists("nsys/run.sqlite"));
  EXPECT_EQ(bytes("nsys/profile-client.log"), "asked\n");
  EXPECT_TRUE(contains(bytes("nsys/profile.log"), "Generated:")) << "nsys ended by itself";
}

TEST_F(NsysCaptureTest, ThePlanIsWhatIsRun) {
  request.environment = {{"FAKE_NSYS", "ok"}, {"EXIT_CODE", "0"}};
  const CapturePlan plan = plan_nsys(nsys, request);
  const CaptureResult result = capture("ok");
  ASSERT_EQ(plan.commands.size(), 3U);
  EXPECT_EQ(plan.commands[0].argv, result.commands[0].argv);
  EXPECT_EQ(plan.commands[1].name, "export");
  EXPECT_EQ(plan.commands[2].name, "stats");
  EXPECT_EQ(plan.notes.size(), 2U);
}

}  // namespace
}  // namespace llmprof::capture
