#include "session/run/pass_failure.h"
#include "session/run/passes.h"

namespace llmprof::session {
namespace fs = std::filesystem;

capture::CaptureResult run_driver_calls(const RunRequest& request, const Artifacts& bundle) {
  capture::CaptureResult result;
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
