#include "analysis/profile.h"

#include <fmt/format.h>

namespace llmprof {
namespace {

// Several descriptions of the same work must not be added up; what was left aside is said.
void report_sources(const Trace& trace, const KernelRanking& ranking, Diagnostics& diagnostics) {
  if (ranking.source == KernelSource::timeline && !trace.kernel_summaries.empty()) {
    diagnostics.info("summary_left_aside",
                     "kernel summary rows are not added to the timeline's kernels, which they "
                     "describe a second time",
                     trace.kernel_summaries.size());
  }
  size_t timelines = 0;
  for (size_t c = 0; c < trace.captures.size(); ++c) {
    for (const Queue& queue : trace.queues.values()) {
      if (queue.device.valid() && trace.devices[queue.device.index()].capture == CaptureId(c)) {
        ++timelines;
        break;
      }
    }
  }
  if (timelines > 1) {
    diagnostics.info("several_timelines",
                     fmt::format("{} timelines are put together, each on its own clock; their "
                                 "devices are told apart by file",
                                 timelines));
  }
}

}  // namespace

Profile analyse(const Trace& trace, const KernelRules& rules) {
  Profile profile;
  profile.trace = &trace;
  profile.diagnostics = trace.diagnostics;
  profile.ranking = rank_kernels(trace, DescribedNames(trace, rules));
  profile.totals = total_up(trace, profile.ranking);
  profile.hidden_graphs = find_hidden_graphs(trace, profile.totals);
  if (profile.hidden_graphs) {
    profile.diagnostics.warn("graph_kernels_missing", profile.hidden_graphs->message);
  }
  if (trace.profiled_launches.size() > 0) {
    profile.join = join_metrics(trace, profile.ranking);
    if (profile.join->joined < profile.join->profiled) {
      profile.diagnostics.warn("profiled_launches_unjoined",
                               "profiled launches whose kernel, grid, block and range are not in "
                               "the timeline; their metrics are left out",
                               profile.join->profiled - profile.join->joined);
    }
  }
  report_sources(trace, profile.ranking, profile.diagnostics);
  return profile;
}

}  // namespace llmprof
