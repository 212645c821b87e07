#include "session/run/pass_failure.h"

#include <fmt/format.h>

#include "capture/convert_advice.h"

namespace llmprof::session {

std::optional<Error> pass_failure(const capture::CommandRecord& record) {
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
      message = fmt::format(
          "{}: cannot be run: {}; check the command behind `--`, or "
          "workload.command",
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

}  // namespace llmprof::session
