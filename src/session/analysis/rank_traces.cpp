#include "session/analysis/rank_traces.h"

#include <fmt/format.h>

#include <utility>

namespace llmprof::session {
namespace {

const profile::RankClock* clock_of(const profile::Profile& job, uint64_t rank) {
  for (const profile::Rank& each : job.ranks) {
    if (each.rank == rank) return each.clock ? &*each.clock : nullptr;
  }
  return nullptr;
}

}  // namespace

void RankTraces::keep(uint64_t rank, trace::Trace&& trace, analysis::Results&& results) {
  kernels_ += trace.kernels.size();
  if (kernels_ > kMostKernels) {
    kept_ = {};
    return;
  }
  kept_.push_back({rank, std::move(trace), std::move(results)});
}

Result<std::vector<exports::RankSource>> RankTraces::sources(const profile::Profile& job) const {
  if (kernels_ > kMostKernels) {
    return fail_input(fmt::format(
        "The job's ranks have {} kernels together, and one timeline holds {}; `llmprof analyze` of "
        "one rank's capture draws that rank's.",
        kernels_, kMostKernels));
  }
  std::vector<exports::RankSource> sources;
  for (const Kept& each : kept_) {
    if (const profile::RankClock* clock = clock_of(job, each.rank)) {
      sources.push_back({fmt::format("rank {}", each.rank), each.trace, each.results, *clock});
    }
  }
  if (sources.empty()) {
    return fail_input(
        "Partial profiles hold no single events; `llmprof analyze` of the ranks' captures draws "
        "their timeline.");
  }
  return sources;
}

}  // namespace llmprof::session
