#include <fmt/format.h>

#include "capture/launcher_exports.h"
#include "session/run/pass_failure.h"
#include "session/run/passes.h"

namespace llmprof::session {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kTorchFolder = "torch";
constexpr std::string_view kTrace = "torch/trace.json.gz";

capture::WorkloadPass torch_pass(const RunRequest& request, const Artifacts& bundle) {
  const TorchOptions& options = request.options.torch;
  capture::WorkloadPass pass;
  pass.name = "profile";
  pass.folder = bundle.path(kTorchFolder);
  pass.environment =
      pass_environment(request, bundle.path("torch/metrics.json"), Recording::annotations);
  pass.environment.emplace_back("LLMPROF_TORCH_TRACE", fs::absolute(bundle.path(kTrace)).string());
  pass.environment.emplace_back(
      "LLMPROF_TORCH_OPTIONS",
      fmt::format(R"({{"record_shapes":{},"with_stack":{},"profile_memory":{},"requests":{}}})",
                  options.record_shapes, options.with_stack, options.profile_memory,
                  options.requests));
  return pass;
}

}  // namespace

capture::CaptureResult run_torch(const RunRequest& request, const Artifacts& bundle) {
  capture::CaptureResult result;
  if (const auto made = bundle.make_folder(kTorchFolder); !made) {
    result.failure = made.error();
    return result;
  }
  const capture::WorkloadPass pass = torch_pass(request, bundle);
  const auto record = capture::run_pass(request.options.workload, pass, pass_limits(request));
  std::error_code ignored;
  const bool written = fs::exists(bundle.path(kTrace), ignored);
  if (written) result.files.emplace_back(kTrace);
  if (!record) {
    result.failure = record.error();
    return result;
  }
  result.commands.push_back(*record);
  result.failure = pass_failure(*record);
  if (!result.failure && !written) {
    result.failure =
        Error{ErrorKind::tool,
              fmt::format("{}: the workload wrote no PyTorch trace; a program of your own must do "
                          "so where LLMPROF_TORCH_TRACE says (docs/workloads.md), or leave the "
                          "pass out with pipeline.torch_profiler.enable=false",
                          bundle.path(kTrace).string())};
  }
  return result;
}

capture::CapturePlan plan_torch(const RunRequest& request, const Artifacts& bundle) {
  capture::CapturePlan plan;
  plan.backend = kTorchFolder;
  const capture::WorkloadPass pass = torch_pass(request, bundle);
  plan.commands.push_back({pass.name,
                           capture::exported_argv(request.options.workload.argv, pass.environment),
                           pass.environment});
  plan.files.emplace_back(kTrace);
  return plan;
}

}  // namespace llmprof::session
