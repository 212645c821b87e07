#include "analysis/passes/sources.h"

#include <fmt/format.h>

#include "analysis/devices/device_kind.h"
#include "analysis/ranking/same_work.h"

namespace llmprof::analysis {

void report_sources(const trace::Trace& trace, const KernelRanking& ranking,
                    Diagnostics& diagnostics) {
  if (ranking.source == KernelSource::timeline && !trace.kernel_summaries.empty()) {
    diagnostics.info("summary_left_aside",
                     "kernel summary rows are not added to the timeline's kernels, which they "
                     "describe a second time",
                     trace.kernel_summaries.size());
  }
  size_t timelines = 0;
  for (size_t c = 0; c < trace.captures.size(); ++c) {
    for (const trace::Queue& queue : trace.queues.values()) {
      if (queue.device.valid() &&
          trace.devices[queue.device.index()].capture == trace::CaptureId(c)) {
        ++timelines;
        break;
      }
    }
  }
  const size_t runs = runs_on_one_gpu(trace);
  if (runs > 1) {
    diagnostics.warn(
        "runs_mixed",
        fmt::format("{} timelines of different runs on one {} are analyzed together; "
                    "figures mix them: give one timeline, or compare them with "
                    "separate calls",
                    runs, device_kind(trace) == trace::DeviceKind::cpu ? "CPU" : "GPU"));
  }
  if (timelines > 1) {
    diagnostics.info("several_timelines",
                     fmt::format("{} timelines are put together, each on its own clock; their "
                                 "devices are told apart by file",
                                 timelines));
  }
}

}  // namespace llmprof::analysis
