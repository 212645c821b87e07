#include <fmt/format.h>

#include <algorithm>

#include "analysis/utilization/finding_kinds.h"
#include "analysis/utilization/finding_words.h"

namespace llmprof::analysis {
namespace {

constexpr double kWorthTelling = 0.01;  // of the GPU time of kernels and replays

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
  if (share < kWorthTelling) return;
  Finding finding;
  const auto most = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return hidden_time(a) < hidden_time(b);
  });
  finding.evidence =
      fmt::format("{} of {} together in the capture",
                  counted_words(static_cast<double>(trace.graph_replays.size()), "replay"),
                  duration_words(hidden));
  if (most != all.end() && hidden_time(*most) > 0) {
    const double time = most->time(BudgetPart::hidden_graphs);
    finding.stage = most->stage->name;
    finding.unit = most->unit();
    finding.share_of_wall = time / most->recoverable->wall;
    finding.evidence += fmt::format("; in {} {}", most->stage->name, share_words(*most, time));
  }
  finding.blind = true;
  finding.title = fmt::format(
      "{} of GPU time is inside CUDA graphs whose kernels were not captured", percent_words(share));
  finding.evidence += "; what could be gained there is not known, and no other figure holds it";
  finding.advice = "Capture again with --cuda-graph-trace=node: then the graphs' kernels are seen.";
  findings.push_back(std::move(finding));
}

}  // namespace llmprof::analysis
