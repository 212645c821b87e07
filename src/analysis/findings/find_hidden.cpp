#include <algorithm>

#include "analysis/findings/finders.h"

namespace llmprof::analysis {
namespace {

constexpr double kHiddenWorthNaming = 0.01;  // of the GPU time of kernels and replays

template <class Table>
double gpu_time(const Table& table) {
  double time = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    time += static_cast<double>(table.end[i] - table.start[i]);
  }
  return time;
}

double hidden_time(const StageFacts& facts) {
  return facts.time(BudgetPart::hidden_graphs) * facts.instances();
}

}  // namespace

void find_hidden_time(const trace::Trace& trace, const std::vector<StageFacts>& all,
                      std::vector<Finding>& findings) {
  const double hidden = gpu_time(trace.graph_replays);
  if (hidden <= 0) return;
  const double share = hidden / (hidden + gpu_time(trace.kernels));
  if (share < kHiddenWorthNaming) return;
  profile::FindingValues values;
  values.add_number("replays", static_cast<double>(trace.graph_replays.size()))
      .add("hidden_time", profile::to_milliseconds(hidden))
      .add("hidden_share_of_gpu_time", profile::Share{share});
  Finding finding;
  finding.kind = profile::FindingKind::hidden_graphs;
  const auto most = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return hidden_time(a) < hidden_time(b);
  });
  if (most != all.end() && hidden_time(*most) > 0) {
    const double time = most->time(BudgetPart::hidden_graphs);
    finding.stage = most->stage->name;
    finding.unit = most->unit;
    finding.share_of_wall = {time / most->recoverable->wall};
    values.add("hidden_time_per_instance", profile::to_milliseconds(time));
  }
  finding.values = std::move(values).take();
  findings.push_back(std::move(finding));
}

}  // namespace llmprof::analysis
