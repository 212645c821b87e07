#include <fmt/format.h>

#include "capture/launcher_exports.h"
#include "session/run/pass_failure.h"
#include "session/run/passes.h"
#include "session/run/rank_states.h"

namespace llmprof::session {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kFolder = "collector";

capture::WorkloadPass collector_pass(const RunRequest& request, const Artifacts& bundle) {
  capture::WorkloadPass pass;
  pass.name = "record";
  pass.folder = bundle.path(kFolder);
  pass.environment = pass_environment(request, bundle.path("collector/metrics.json"),
                                      Recording::annotations, bundle.path(kFolder));
  const Variables more = collector_environment(request);
  pass.environment.insert(pass.environment.end(), more.begin(), more.end());
  return pass;
}

std::vector<fs::path> logs_in(const fs::path& folder) {
  std::vector<fs::path> logs;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".llmtrace") {
      logs.push_back(fs::path(kFolder) / entry.path().filename());
    }
  }
  return logs;
}

Error nothing_recorded(const Artifacts& bundle) {
  return {ErrorKind::tool,
          fmt::format("{}: the workload left no log: it does not annotate itself; see "
                      "docs/collector.md, or capture its kernels with pipeline.nsys.enable=true",
                      bundle.path(kFolder).string())};
}

// Of a distributed job: which ranks died or are missing. A rank that is recorded by itself is told
// of by the pipeline.
std::optional<Error> note_ranks(const RunRequest& request, const capture::CommandRecord& pass,
                                const Artifacts& bundle) {
  if (request.rank) return std::nullopt;
  const RanksRecord ranks = rank_states(capture::find_launcher(request.options.workload.argv), pass,
                                        rank_logs(bundle.path(kFolder)));
  if (ranks.ranks.empty()) return std::nullopt;
  if (const auto written = write_ranks_record(bundle, ranks); !written) return written.error();
  const bool any = ranks.not_recorded().size() < ranks.ranks.size();
  return rank_failure(ranks, pass,
                      any ? "what the other ranks recorded is kept and analyzed"
                          : "no rank recorded all of its run");
}

}  // namespace

capture::CaptureResult run_collector(const RunRequest& request, const Artifacts& bundle) {
  capture::CaptureResult result;
  if (!request.program.collector) {
    result.failure =
        Error{ErrorKind::tool,
              fmt::format("{}: no such library; build it with `make build`, or use "
                          "the whole bundle of a release",
                          (request.program.bin.parent_path() / "lib" / kCollectorFile).string())};
    return result;
  }
  if (const auto made = bundle.make_folder(kFolder); !made) {
    result.failure = made.error();
    return result;
  }
  const capture::WorkloadPass pass = collector_pass(request, bundle);
  const auto record = capture::run_pass(request.options.workload, pass, pass_limits(request));
  result.files = logs_in(pass.folder);
  if (!record) {
    result.failure = record.error();
    return result;
  }
  result.commands.push_back(*record);
  result.failure = note_ranks(request, *record, bundle);
  if (!result.failure) result.failure = pass_failure(*record);
  // Of a program that uses CUDA the pipeline looks into the logs, and knows more.
  const bool empty = result.files.empty() && !request.captures.collector_cuda;
  if (!result.failure && empty) result.failure = nothing_recorded(bundle);
  return result;
}

capture::CapturePlan plan_collector(const RunRequest& request, const Artifacts& bundle) {
  capture::CapturePlan plan;
  plan.backend = kFolder;
  const capture::WorkloadPass pass = collector_pass(request, bundle);
  plan.commands.push_back({pass.name,
                           capture::exported_argv(request.options.workload.argv, pass.environment),
                           pass.environment});
  const bool ranks = request.rank || capture::find_launcher(request.options.workload.argv);
  plan.files.emplace_back(ranks ? "collector/rank<N>-<pid>.llmtrace" : "collector/<pid>.llmtrace");
  if (request.captures.collector_cuda && request.options.collector.arm == "command") {
    plan.notes.emplace_back("records once `llmprof arm PID` is called while the program runs");
  }
  return plan;
}

}  // namespace llmprof::session
