#include "session/run/pass_failure.h"

#include <fmt/format.h>

#include "capture/convert_advice.h"

namespace llmprof {

std::optional<Error> pass_failure(const CommandRecord& record, const WorkloadPass& pass) {
  const ProcessResult& result = record.result;
  if (result.succeeded()) return std::nullopt;
  const auto log = (pass.folder / (pass.name + ".log")).string();
  std::string message;
  switch (result.end) {
    case ProcessEnd::stopped:
      return Error{ErrorKind::tool, "interrupted; what was captured before is kept"};
    case ProcessEnd::timed_out:
      message = fmt::format(
          "the workload was ended after {:.0f} s, the limit; raise it with run.timeout_s=SECONDS, "
          "or make the workload smaller (workload.requests=1)",
          std::chrono::duration<double>(result.duration).count());
      break;
    case ProcessEnd::not_started:
      message = fmt::format(
          "{}: cannot be run: {}; check the command behind `--`, or "
          "workload.command",
          record.argv.empty() ? "the workload" : record.argv.front(), describe_end(result));
      break;
    case ProcessEnd::exited:
    case ProcessEnd::signalled:
      message = fmt::format("the workload failed by itself: {}; its output is in {}",
                            describe_end(result), log);
      break;
  }
  if (const std::string words = last_words(result.output_tail); !words.empty()) {
    message += "\n  it said last: " + words;
  }
  return Error{ErrorKind::tool, message};
}

}  // namespace llmprof
