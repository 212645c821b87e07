#include <cstdlib>

#include "session/run/passes.h"

namespace llmprof::session {
namespace fs = std::filesystem;
namespace {

// Ours in front: the workload finds llmprof_annotate whatever else it imports.
std::string python_path(const fs::path& ours) {
  const char* theirs = std::getenv("PYTHONPATH");
  if (theirs == nullptr || *theirs == '\0') return ours.string();
  return ours.string() + ":" + theirs;
}

}  // namespace

Variables pass_environment(const RunRequest& request, const fs::path& metrics, Recording recording,
                           const fs::path& log_folder) {
  Variables variables;
  variables.emplace_back("LLMPROF_METRICS", fs::absolute(metrics).string());
  if (!request.program.home.empty()) {
    variables.emplace_back("PYTHONPATH", python_path(request.program.home / "python"));
  }
  // What the user's own shell may have set must not make an unprofiled run record.
  const bool annotated = recording == Recording::annotations && request.program.collector;
  variables.emplace_back("LLMPROF_COLLECTOR",
                         annotated ? request.program.collector->string() : std::string());
  variables.emplace_back("LLMPROF_LOG_DIR", annotated && !log_folder.empty()
                                                ? fs::absolute(log_folder).string()
                                                : std::string());
  return variables;
}

capture::CaptureLimits pass_limits(const RunRequest& request) {
  capture::CaptureLimits limits;
  limits.timeout = request.options.timeout;
  limits.max_bytes = request.options.max_trace_bytes;
  limits.stop = request.stop;
  return limits;
}

}  // namespace llmprof::session
