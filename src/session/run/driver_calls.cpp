#include "capture/launcher_exports.h"
#include "session/run/pass_failure.h"
#include "session/run/passes.h"

namespace llmprof::session {
namespace fs = std::filesystem;

namespace {

capture::WorkloadPass driver_calls_pass(const RunRequest& request, const Artifacts& bundle) {
  capture::WorkloadPass pass;
  pass.name = "driver_calls";
  pass.folder = bundle.path("stage1");
  pass.environment =
      pass_environment(request, bundle.path("stage1/driver_calls_metrics.json"), Recording::none);
  std::erase_if(pass.environment, [](const auto& set) { return set.first == "LLMPROF_LOG_DIR"; });
  pass.environment.emplace_back("LLMPROF_LOG_DIR",
                                fs::absolute(bundle.path(kDriverCalls)).string());
  pass.environment.emplace_back("LLMPROF_WATCH", "callbacks");
  const Variables injection = injection_environment(request);
  pass.environment.insert(pass.environment.end(), injection.begin(), injection.end());
  return pass;
}

}  // namespace

bool wants_driver_calls(const RunRequest& request) {
  return request.options.pipeline.driver_calls == Switch::on && request.captures.collector_cuda;
}

capture::CapturePlan plan_driver_calls(const RunRequest& request, const Artifacts& bundle) {
  capture::CapturePlan plan;
  plan.backend = "driver_calls";
  const capture::WorkloadPass pass = driver_calls_pass(request, bundle);
  plan.commands.push_back({pass.name,
                           capture::exported_argv(request.options.workload.argv, pass.environment),
                           pass.environment});
  plan.files.push_back(fs::path(kDriverCalls) / "<pid>.llmtrace");
  plan.notes.emplace_back("the workload without tracing, while the driver reports its launches");
  return plan;
}

capture::CaptureResult run_driver_calls(const RunRequest& request, const Artifacts& bundle) {
  capture::CaptureResult result;
  const capture::WorkloadPass pass = driver_calls_pass(request, bundle);
  const auto record = capture::run_pass(request.options.workload, pass, pass_limits(request));
  if (!record) {
    result.failure = record.error();
    return result;
  }
  result.commands.push_back(*record);
  result.failure = pass_failure(*record);
  return result;
}

}  // namespace llmprof::session
