#include "capture/nsys/nsys_capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/text.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

bool says_any(std::string_view output, std::initializer_list<std::string_view> words) {
  std::string lower(output);
  std::ranges::transform(lower, lower.begin(), to_lower);
  return std::ranges::any_of(words, [&](std::string_view word) { return contains(lower, word); });
}

std::string said(const CommandRecord& record) {
  return fmt::format("{}; see {}", printed_words(record.result.output_tail), record.log.string());
}

NsysFailure nsys_failed(std::string message) {
  return {{ErrorKind::tool, std::move(message)}, true};
}
NsysFailure final_failure(std::string message) {
  return {{ErrorKind::tool, std::move(message)}, false};
}

double seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string_view kept(NsysOutput output) {
  return output == NsysOutput::report ? "What was recorded until then is kept"
                                      : "nsys left no report of what it had recorded";
}

NsysFailure hit_limit(const NsysRequest& request, const CommandRecord& record, NsysOutput output) {
  constexpr double kMegabyte = 1e6;
  switch (record.result.end) {
    case ProcessEnd::timed_out:
      return final_failure(
          fmt::format("the workload under nsys was not finished after {:.0f} s and was ended; {}. "
                      "{}. If it hangs only under nsys, trace less (nsys.trace=[cuda,nvtx], "
                      "nsys.sample=none); else raise run.timeout_s",
                      seconds(request.limits.timeout.value_or(std::chrono::milliseconds(0))),
                      said(record), kept(output)));
    case ProcessEnd::over_limit:
      return final_failure(
          fmt::format("nsys wrote more than {:.0f} MB, so the recording was ended; see {}. {}. "
                      "Trace less (nsys.trace=[cuda,nvtx], nsys.sample=none), run a shorter "
                      "workload, or raise run.max_trace_mb",
                      static_cast<double>(request.limits.max_bytes.value_or(0)) / kMegabyte,
                      record.log.string(), kept(output)));
    default:
      return final_failure(fmt::format("the nsys recording was interrupted. {}; see {}",
                                       kept(output), record.log.string()));
  }
}

NsysFailure never_started(const NsysRequest& request, const CommandRecord& record) {
  const std::string_view range = request.options.nvtx_capture;
  const size_t at = range.find('@');
  const std::string_view name = range.substr(0, at);
  const std::string where = at == std::string_view::npos
                                ? std::string("the default NVTX domain")
                                : fmt::format("the NVTX domain '{}'", range.substr(at + 1));
  const std::string end = record.ended_well() ? std::string()
                                              : fmt::format(" before the workload ended ({})",
                                                            describe_end(record.result));
  return final_failure(fmt::format(
      "the gated recording never started: no range '{}' of {} began{}, so nsys wrote no report; "
      "{}. Record everything and select afterwards (nsys.gating_nvtx=false), or name a range that "
      "the workload has (nsys.nvtx_capture=RANGE@DOMAIN; a range whose name is written "
      "'DOMAIN@RANGE' is in no domain)",
      name, where, end, said(record)));
}

NsysFailure without_report(const NsysRequest& request, const CommandRecord& record) {
  const ProcessResult& result = record.result;
  if (result.end == ProcessEnd::not_started) {
    return final_failure(fmt::format("nsys could not be started: {}: {}", record.argv.front(),
                                     describe_end(result)));
  }
  if (result.end == ProcessEnd::signalled) {
    return nsys_failed(
        fmt::format("nsys crashed and left no report: {}; {}. Install another version of Nsight "
                    "Systems, or set LLMPROF_NSYS to one",
                    describe_end(result), said(record)));
  }
  const std::string words = last_words(result.output_tail);
  // Checks the program's name, because nsys may also miss its own files.
  if (!result.succeeded() && says_any(words, {"program not found", "no such file"}) &&
      contains(words, request.workload.argv.front())) {
    return final_failure(
        fmt::format("nsys could not start the workload '{}': {}. Correct the workload's command",
                    request.workload.argv.front(), said(record)));
  }
  if (says_any(result.output_tail, {"permission denied", "not permitted", "requires root",
                                    "insufficient privilege", "perf_event_paranoid"})) {
    return nsys_failed(
        fmt::format("nsys is not permitted to profile here: {}. Run as root or, in a container, "
                    "with --cap-add=SYS_ADMIN (or SYS_PTRACE); for CPU sampling: sysctl -w "
                    "kernel.perf_event_paranoid=2, or nsys.sample=none",
                    said(record)));
  }
  if (is_gated_by_nvtx(request.options)) return never_started(request, record);
  if (record.ended_well()) {
    return nsys_failed(
        fmt::format("nsys reported success but left no report; {}. Check the free disk space of {}",
                    said(record), record.log.parent_path().string()));
  }
  return nsys_failed(
      fmt::format("nsys failed and left no report: {}; {}", describe_end(result), said(record)));
}

}  // namespace

std::optional<NsysFailure> judge_nsys_attempt(const NsysRequest& request,
                                              const CommandRecord& record, NsysOutput output) {
  const ProcessEnd end = record.result.end;
  if (end == ProcessEnd::timed_out || end == ProcessEnd::over_limit || end == ProcessEnd::stopped) {
    return hit_limit(request, record, output);
  }
  switch (output) {
    case NsysOutput::none:
      return without_report(request, record);
    case NsysOutput::empty:
      return nsys_failed(fmt::format(
          "nsys left an empty report ({}); {}. The disk may be full: check the free disk space of "
          "{}",
          describe_end(record.result), said(record), record.log.parent_path().string()));
    case NsysOutput::garbage:
      return nsys_failed(
          fmt::format("nsys left a file that is not an Nsight Systems report ({}); {}. It is kept, "
                      "its name ending in .unusable; set LLMPROF_NSYS to another installation",
                      describe_end(record.result), said(record)));
    case NsysOutput::report:
      break;
  }
  if (record.trouble) return NsysFailure{*record.trouble, false};
  if (record.ended_well()) return std::nullopt;
  return final_failure(fmt::format(
      "the workload itself failed under nsys: {}; {}. What was recorded until then is kept",
      describe_end(record.result), said(record)));
}

}  // namespace llmprof::capture
