#include "analysis/ranking/hidden_graphs.h"

#include <fmt/format.h>

#include <map>

#include "analysis/ranking/open_ranges.h"

namespace llmprof::analysis {
namespace {

std::string most_common_range(const trace::Trace& trace) {
  const OpenRanges ranges(trace);
  std::map<std::string, size_t> launches;
  for (const trace::LaunchRow launch : trace.graph_replays.launch) {
    if (!launch.valid()) continue;
    const uint32_t path =
        ranges.at(trace.launches.thread[launch.index()], trace.launches.start[launch.index()]);
    const std::string& labels = ranges.path(path);
    if (!labels.empty()) ++launches[labels.substr(0, labels.find('/'))];
  }
  std::string best;
  size_t most = 0;
  for (const auto& [label, count] : launches) {
    if (count > most) {
      most = count;
      best = label;
    }
  }
  return most * 2 > trace.graph_replays.size() ? best : std::string();
}

}  // namespace

std::optional<HiddenGraphs> find_hidden_graphs(const trace::Trace& trace, const Totals& totals) {
  if (totals.graph_replay_count == 0) return std::nullopt;
  HiddenGraphs hidden;
  hidden.replays = totals.graph_replay_count;
  hidden.time = totals.graph_replay_sum;
  const auto whole = static_cast<double>(totals.graph_replay_sum + totals.kernel_sum);
  hidden.share = whole > 0 ? static_cast<double>(hidden.time) / whole : 0;
  hidden.launched_in = most_common_range(trace);
  hidden.message = fmt::format(
      "kernels inside CUDA graphs are not in the table: {} graph replays{}, {:.3f} ms, {:.1f} % of "
      "GPU time (kernels plus graph replays), were recorded as a whole; record again with `nsys "
      "profile --cuda-graph-trace=node` to see their kernels",
      hidden.replays,
      hidden.launched_in.empty() ? "" : fmt::format(" launched in {}", hidden.launched_in),
      static_cast<double>(hidden.time) / 1e6, hidden.share * 100);
  return hidden;
}

}  // namespace llmprof::analysis
