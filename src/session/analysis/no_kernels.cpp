#include "session/analysis/no_kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/diagnostics.h"
#include "profile/lost_data.h"

namespace llmprof::session {
namespace {

// A log that does not say itself why it holds no work.
bool is_log_without_work(const trace::Trace& trace) {
  const Diagnostics& diagnostics = trace.diagnostics;
  if (diagnostics.has("collector_never_armed") || diagnostics.has("collector_stood_down")) {
    return false;
  }
  return std::any_of(
      trace.captures.begin(), trace.captures.end(),
      [](const trace::Capture& capture) { return capture.tool == trace::kCollectorTool; });
}

// What to do about it; empty where the diagnostics have to say it.
std::string remedy(const trace::Trace& trace) {
  if (trace.profiled_launches.size() > 0) {
    return fmt::format(
        "\n  launches were profiled ({}), but not their durations; profile again with `--metrics "
        "gpu__time_duration.sum` or `--section SpeedOfLight`",
        trace.profiled_launches.size());
  }
  if (!trace.call_summaries.empty()) {
    return "\n  the file holds reports on ranges or API calls only; add a kernel report: `nsys "
           "stats --report cuda_gpu_kern_sum --format csv REPORT.nsys-rep`";
  }
  if (is_log_without_work(trace)) {
    return "\n  the program's own log holds ranges but no operators: record them with "
           "llmprof_operator (docs/collector.md), or capture the kernels of a GPU program with "
           "nsys as well (`nsys profile --trace cuda,nvtx`)";
  }
  if (trace.workload) {
    return "\n  Stage 1 metrics are what the workload measured itself; also name a capture of the "
           "same program (nsys, ncu, or a PyTorch trace)";
  }
  return {};
}

}  // namespace

Error no_kernels(const trace::Trace& trace, const profile::Profile& profile, bool list_failures) {
  std::string files;
  for (const trace::Capture& capture : trace.captures) {
    if (!files.empty()) files += ", ";
    files += capture.path;
  }
  const bool damaged = std::any_of(profile.diagnostics.begin(), profile.diagnostics.end(),
                                   [&](const profile::Diagnostic& item) {
                                     return item.code != "collector_log_empty" &&
                                            profile::means_lost_data(item, profile.totals.source);
                                   });
  // What was not recorded is not known of a file that cannot be read.
  std::string message = damaged ? fmt::format("{}: damaged; no kernels in it could be read", files)
                                : fmt::format("{}: no kernels to analyze", files) + remedy(trace);
  if (list_failures) {
    for (const profile::CaptureFailure& failure : profile.captures_failed) {
      message += fmt::format("\n  {} failed: {}", failure.backend, failure.message);
    }
  }
  for (const profile::Diagnostic& item : profile.diagnostics) {
    if (item.severity != to_string(Severity::info)) message += "\n  " + item.message;
  }
  return {ErrorKind::input, message};
}

}  // namespace llmprof::session
