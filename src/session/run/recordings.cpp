#include "session/run/recordings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/needed.h"
#include "base/streams/byte_stream.h"
#include "capture/launcher.h"
#include "capture/ncu/ncu_runs.h"
#include "capture/shell.h"
#include "session/run/ranks.h"

namespace llmprof::session {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kControlFolder = "stage1";
constexpr std::string_view kMetrics = "stage1/metrics.json";
constexpr size_t kLargestMetrics = 16UL << 20U;
constexpr std::string_view kTorchFolder = "torch";
constexpr std::string_view kTrace = "torch/trace.json.gz";
constexpr std::string_view kSnapshot = "torch/memory.pickle";
// At the first allocation that failed.
constexpr std::string_view kSnapshotOfFailure = "torch/memory-oom.pickle";
constexpr std::string_view kFolder = "collector";
// The control run's notes, in the bundle.
constexpr std::string_view kControlLaunches = "stage1/launches";
// The notes of a run whose launches the driver reported.
constexpr std::string_view kDriverCalls = "stage1/driver_calls";

// Replaces a folder that is already set.
void set_log_folder(const fs::path& folder, Variables& variables) {
  constexpr std::string_view kName = "LLMPROF_LOG_DIR";
  std::erase_if(variables, [&](const auto& variable) { return variable.first == kName; });
  variables.emplace_back(kName, fs::absolute(folder).string());
}

// Why a run of the workload failed, and where its output is; none if it succeeded.
std::optional<Error> recording_failure(const capture::CommandRecord& record) {
  const capture::ProcessResult& result = record.result;
  if (record.ended_well()) return record.trouble;
  std::string message;
  switch (result.end) {
    case capture::ProcessEnd::stopped:
      return Error{ErrorKind::tool, "interrupted; what was captured before is kept"};
    case capture::ProcessEnd::timed_out:
      message = fmt::format(
          "the workload was stopped after {:.0f} s, the time limit; raise it with "
          "run.timeout_s=SECONDS, "
          "or make the workload smaller (workload.requests=1)",
          std::chrono::duration<double>(result.duration).count());
      break;
    case capture::ProcessEnd::over_limit:
      message =
          "the workload was stopped because its capture grew beyond the size limit; raise it with "
          "run.max_trace_mb=MEGABYTES, or make the workload smaller (workload.requests=1)";
      break;
    case capture::ProcessEnd::not_started:
      message =
          fmt::format("{}: cannot be run: {}; check the command after `--`, or workload.command",
                      record.argv.empty() ? "the workload" : record.argv.front(),
                      capture::describe_end(result));
      break;
    case capture::ProcessEnd::exited:
    case capture::ProcessEnd::signalled:
      message = fmt::format("the workload itself failed: {}; its output is in {}",
                            capture::describe_end(result), record.log.string());
      break;
  }
  if (const std::string words = capture::last_words(result.output_tail); !words.empty()) {
    message += "\n  its last output: " + words;
  }
  return Error{ErrorKind::tool, message};
}

// Runs the workload once more.
const capture::CommandRecord& record(const RunRequest& request,
                                     const capture::WorkloadRecording& recording,
                                     capture::CaptureResult& result) {
  result.commands.push_back(needed(
      capture::record_workload(request.options.workload, recording, recording_limits(request))));
  result.failure = recording_failure(result.commands.back());
  return result.commands.back();
}

// What `work` adds to a result. An error that it throws is the result's failure.
template <class Work>
capture::CaptureResult recorded(Work work) {
  capture::CaptureResult result;
  if (const auto done = attempt([&] { work(result); }); !done) result.failure = done.error();
  return result;
}

void plan_command(const RunRequest& request, const capture::WorkloadRecording& recording,
                  capture::CapturePlan& plan) {
  plan.commands.push_back(
      {recording.name, capture::exported_argv(request.options.workload.argv, recording.environment),
       recording.environment});
}

capture::CapturePlan plan_of(std::string_view backend, const RunRequest& request,
                             const capture::WorkloadRecording& recording, const fs::path& file) {
  capture::CapturePlan plan;
  plan.backend = backend;
  plan_command(request, recording, plan);
  plan.files = {file};
  return plan;
}

// `metrics` and `log_folder` are in the bundle.
capture::WorkloadRecording recording_in(std::string_view folder, std::string name,
                                        const Artifacts& bundle, const RunRequest& request,
                                        std::string_view metrics, Annotations annotations,
                                        const fs::path& log_folder = {}) {
  capture::WorkloadRecording recording;
  recording.name = std::move(name);
  recording.folder = bundle.path(folder);
  recording.environment =
      recording_environment(request, bundle.path(metrics), annotations, log_folder);
  return recording;
}

// The name of a control run's file: with the run's number if there are several.
std::string numbered(const RunRequest& request, std::string_view name, uint64_t number,
                     std::string_view ending = "") {
  return request.options.repeats <= 1 ? fmt::format("{}{}", name, ending)
                                      : fmt::format("{}_{}{}", name, number, ending);
}

capture::WorkloadRecording control_recording(const RunRequest& request, const Artifacts& bundle,
                                             uint64_t number) {
  auto recording =
      recording_in(kControlFolder, numbered(request, "control", number), bundle, request,
                   numbered(request, "stage1/metrics", number, ".json"), Annotations::off);
  const Variables timing = launch_timing_environment(request, LaunchTiming::alone);
  if (timing.empty()) return recording;
  append(timing, recording.environment);
  set_log_folder(bundle.path(numbered(request, kControlLaunches, number)), recording.environment);
  return recording;
}

struct Control {
  uint64_t number = 1;
  std::chrono::nanoseconds duration{0};
};

// Keeps the metrics and launches of the median run.
void keep_median(const RunRequest& request, const Artifacts& bundle, const Control& median) {
  std::error_code none;  // a program may have neither
  fs::rename(bundle.path(numbered(request, kControlLaunches, median.number)),
             bundle.path(kControlLaunches), none);
  fs::rename(bundle.path(numbered(request, "stage1/control", median.number, "-load")),
             bundle.path("stage1/control-load"), none);
  const fs::path metrics = bundle.path(numbered(request, "stage1/metrics", median.number, ".json"));
  if (!path_exists(metrics)) return;
  bundle.write(kMetrics, needed(read_all(metrics, kLargestMetrics)));
}

// The error if a rank of a distributed job died by itself.
std::optional<Error> job_failure(const RunRequest& request, const capture::CommandRecord& record) {
  const auto launcher = capture::find_launcher(request.options.workload.argv);
  return rank_failure(rank_states(launcher, record, {}), record,
                      "this was the control run, and the job is recorded all the same");
}

capture::WorkloadRecording driver_calls_recording(const RunRequest& request,
                                                  const Artifacts& bundle) {
  auto recording = recording_in(kControlFolder, "driver_calls", bundle, request,
                                "stage1/driver_calls_metrics.json", Annotations::off);
  set_log_folder(bundle.path(kDriverCalls), recording.environment);
  recording.environment.emplace_back("LLMPROF_WATCH", "callbacks");
  append(injection_environment(request), recording.environment);
  return recording;
}

bool asks_for_snapshot(const RunRequest& request) {
  return request.options.torch.memory_snapshot && request.options.workload.uses_cuda;
}

capture::WorkloadRecording torch_recording(const RunRequest& request, const Artifacts& bundle) {
  const TorchOptions& options = request.options.torch;
  auto recording =
      recording_in(kTorchFolder, "profile", bundle, request, "torch/metrics.json", Annotations::on);
  append(
      {{"LLMPROF_TORCH_TRACE", fs::absolute(bundle.path(kTrace)).string()},
       {"LLMPROF_TORCH_OPTIONS",
        fmt::format(R"({{"record_shapes":{},"with_stack":{},"profile_memory":{},"requests":{}}})",
                    options.record_shapes, options.with_stack, options.profile_memory,
                    options.requests)}},
      recording.environment);
  if (asks_for_snapshot(request)) {
    recording.environment.emplace_back("LLMPROF_TORCH_MEMORY",
                                       fs::absolute(bundle.path(kSnapshot)).string());
  }
  return recording;
}

capture::WorkloadRecording collector_recording(const RunRequest& request, const Artifacts& bundle) {
  auto recording = recording_in(kFolder, "record", bundle, request, "collector/metrics.json",
                                Annotations::on, bundle.path(kFolder));
  append(collector_environment(request), recording.environment);
  return recording;
}

// For a distributed job: throws if ranks died or are missing. The pipeline reports a rank that
// records itself.
void note_ranks(const RunRequest& request, const capture::CommandRecord& recording,
                const Artifacts& bundle) {
  if (request.rank) return;
  const RanksRecord ranks = rank_states(capture::find_launcher(request.options.workload.argv),
                                        recording, rank_logs(bundle.path(kFolder)));
  if (ranks.ranks.empty()) return;
  write_ranks_record(bundle, ranks);
  const bool any = ranks.not_recorded().size() < ranks.ranks.size();
  const auto failure = rank_failure(ranks, recording,
                                    any ? "what the other ranks recorded is kept and analyzed"
                                        : "no rank recorded all of its run");
  if (failure) throw Failure(*failure);
}

capture::CapturePlan plan_control(const RunRequest& request, const Artifacts& bundle) {
  capture::CapturePlan plan;
  plan.backend = kControlFolder;
  const uint64_t repeats = std::max<uint64_t>(1, request.options.repeats);
  for (uint64_t number = 1; number <= repeats; ++number) {
    plan_command(request, control_recording(request, bundle, number), plan);
  }
  plan.files.emplace_back(kMetrics);
  plan.notes.emplace_back("the workload without profiling: the baseline of every capture");
  return plan;
}

capture::CapturePlan plan_driver_calls(const RunRequest& request, const Artifacts& bundle) {
  auto plan = plan_of("driver_calls", request, driver_calls_recording(request, bundle),
                      fs::path(kDriverCalls) / "<pid>.llmtrace");
  plan.notes.emplace_back("the workload without tracing, while the driver reports its launches");
  return plan;
}

capture::CapturePlan plan_torch(const RunRequest& request, const Artifacts& bundle) {
  auto plan = plan_of(kTorchFolder, request, torch_recording(request, bundle), kTrace);
  if (asks_for_snapshot(request)) {
    plan.files.emplace_back(kSnapshot);
  } else if (request.options.torch.memory_snapshot) {
    plan.notes.emplace_back("no memory snapshot of PyTorch: the workload does not use CUDA");
  }
  return plan;
}

capture::CapturePlan plan_collector(const RunRequest& request, const Artifacts& bundle) {
  const bool ranks = request.rank || capture::find_launcher(request.options.workload.argv);
  auto plan = plan_of(kFolder, request, collector_recording(request, bundle),
                      ranks ? "collector/rank<N>-<pid>.llmtrace" : "collector/<pid>.llmtrace");
  if (request.captures.collector_cuda && request.options.collector.arm == "command") {
    plan.notes.emplace_back("records once `llmprof arm PID` is called while the program runs");
  }
  return plan;
}

// If a tool is missing, its plan has no commands and says why.
capture::CapturePlan plan_without(std::string_view backend, const Error& missing) {
  capture::CapturePlan plan;
  plan.backend = backend;
  plan.notes.push_back("cannot be captured here: " + missing.message);
  return plan;
}

capture::CapturePlan plan_nsys(const RunRequest& request, const Artifacts& bundle) {
  const auto nsys = capture::ensure_tool(capture::Tool::nsys, capture::tool_search_here());
  return nsys ? capture::plan_nsys(*nsys, nsys_request(request, bundle))
              : plan_without("nsys", nsys.error());
}

capture::CapturePlan plan_ncu(const RunRequest& request, const Artifacts& bundle) {
  const auto ncu = capture::ensure_tool(capture::Tool::ncu, capture::tool_search_here());
  return ncu ? capture::plan_ncu(*ncu, ncu_request(request, bundle))
             : plan_without("ncu", ncu.error());
}

// Duration of a recording, in runs of the workload. nsys also writes and exports its report. On an
// H200, a run under the collector took 0.82 of the control run, which had filled the caches, and
// one under torch.profiler, with one request, 1.09 (17 November 2026, llama_1b).
constexpr double kUnderCollector = 1.0;
constexpr double kUnderNsys = 2.0;
constexpr double kUnderTorch = 1.1;

template <class Runs>
milliseconds times(milliseconds one_run, Runs runs) {
  return milliseconds(
      static_cast<int64_t>(static_cast<double>(one_run.count()) * static_cast<double>(runs)));
}

milliseconds time_of_ncu(const RunRequest& request, milliseconds one_run) {
  const bool timeline = request.captures.collector || request.captures.nsys;
  const auto chosen =
      timeline ? std::optional(request.options.top_n_kernels) : std::optional<uint64_t>();
  // llmprof's own workloads set ranges; a program after `--` may not.
  const bool annotated = request.options.facts.name != "program";
  const bool gated = request.options.ncu.gating_nvtx && annotated;
  return capture::predicted_time_unseen(request.options.ncu, chosen, gated, one_run);
}

}  // namespace

const std::array<RecordingRow, 6> kRecordings = {{
    {"control run", [](const RunRequest&) { return true; },
     [](const RunRequest& request, milliseconds one_run) {
       return times(one_run, std::max<uint64_t>(1, request.options.repeats));
     },
     plan_control},
    {"collector", [](const RunRequest& request) { return request.captures.collector; },
     [](const RunRequest&, milliseconds one_run) { return times(one_run, kUnderCollector); },
     plan_collector},
    {"driver calls",
     [](const RunRequest& request) {
       return request.options.pipeline.driver_calls == Switch::on &&
              request.captures.collector_cuda;
     },
     [](const RunRequest&, milliseconds one_run) { return one_run; }, plan_driver_calls},
    {"nsys", [](const RunRequest& request) { return request.captures.nsys; },
     [](const RunRequest&, milliseconds one_run) { return times(one_run, kUnderNsys); }, plan_nsys},
    {"ncu", [](const RunRequest& request) { return request.captures.ncu; }, time_of_ncu, plan_ncu},
    {"torch.profiler", [](const RunRequest& request) { return request.captures.torch_profiler; },
     [](const RunRequest&, milliseconds one_run) { return times(one_run, kUnderTorch); },
     plan_torch},
}};

Result<ControlRun> run_control(const RunRequest& request, const Artifacts& bundle) {
  return attempt([&]() -> ControlRun {
    bundle.make_folder(kControlFolder);
    std::vector<Control> runs;
    const uint64_t repeats = std::max<uint64_t>(1, request.options.repeats);
    for (uint64_t number = 1; number <= repeats; ++number) {
      const auto record = needed(capture::record_workload(
          request.options.workload, control_recording(request, bundle, number),
          recording_limits(request)));
      if (const auto failure = recording_failure(record)) {
        if (auto of_job = job_failure(request, record)) return {{}, std::move(of_job)};
        const auto& server = request.options.workload.server;
        if (record.ended_well() && server && !server->load.empty()) return {{}, failure};
        throw Failure(*failure);
      }
      runs.push_back({number, record.result.duration});
    }
    std::ranges::sort(runs, {}, &Control::duration);
    const Control& median = runs[runs.size() / 2];
    if (repeats > 1) keep_median(request, bundle, median);
    return {median.duration, {}};
  });
}

capture::CaptureResult run_driver_calls(const RunRequest& request, const Artifacts& bundle) {
  return recorded([&](capture::CaptureResult& result) {
    record(request, driver_calls_recording(request, bundle), result);
  });
}

// A snapshot is no reason to fail: a program of one's own may not know how to write one.
void add_snapshots(const RunRequest& request, const Artifacts& bundle,
                   capture::CaptureResult& result) {
  for (const std::string_view file : {kSnapshot, kSnapshotOfFailure}) {
    if (path_exists(bundle.path(file))) result.files.emplace_back(file);
  }
  if (!asks_for_snapshot(request) || path_exists(bundle.path(kSnapshot))) return;
  result.notes.info("no_memory_snapshot",
                    "the workload wrote no memory snapshot of PyTorch; a program of your own must "
                    "write it to the file in LLMPROF_TORCH_MEMORY (docs/workloads.md); "
                    "torch.memory_snapshot=false asks for none");
}

capture::CaptureResult run_torch(const RunRequest& request, const Artifacts& bundle) {
  return recorded([&](capture::CaptureResult& result) {
    bundle.make_folder(kTorchFolder);
    record(request, torch_recording(request, bundle), result);
    add_snapshots(request, bundle, result);
    const fs::path trace = bundle.path(kTrace);
    if (path_exists(trace)) {
      result.files.emplace_back(kTrace);
    } else if (!result.failure) {
      give_up(ErrorKind::tool,
              fmt::format("{}: the workload wrote no PyTorch trace; a program of your own must "
                          "write it to the file in LLMPROF_TORCH_TRACE (docs/workloads.md), or "
                          "skip this recording with pipeline.torch_profiler.enable=false",
                          trace.string()));
    }
  });
}

capture::CaptureResult run_collector(const RunRequest& request, const Artifacts& bundle) {
  return recorded([&](capture::CaptureResult& result) {
    if (!request.program.collector) {
      give_up(
          ErrorKind::tool,
          fmt::format("{}: no such library; build it with `make build`, or use the whole bundle "
                      "of a release",
                      (request.program.bin.parent_path() / "lib" / kCollectorFile).string()));
    }
    bundle.make_folder(kFolder);
    const auto& done = record(request, collector_recording(request, bundle), result);
    for (const fs::path& log : logs_in(bundle.path(kFolder))) {
      result.files.push_back(fs::path(kFolder) / log.filename());
    }
    note_ranks(request, done, bundle);
    // If the program uses CUDA, the pipeline checks the logs and reports more.
    const bool empty = result.files.empty() && !request.captures.collector_cuda;
    if (result.failure || !empty) return;
    give_up(ErrorKind::tool,
            fmt::format("{}: the workload left no log: it does not use the annotation API; see "
                        "docs/collector.md, or capture its kernels with pipeline.nsys.enable=true",
                        bundle.path(kFolder).string()));
  });
}

}  // namespace llmprof::session
