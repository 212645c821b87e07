#include <algorithm>

#include "analysis/requests/served_requests.h"
#include "analysis/result/parts.h"
#include "analysis/stages/measure_stages.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis::result {
namespace {

// Share of the control run's time above which the timings of a recording are not representative.
constexpr double kMuchOverhead = 0.25;

// Null if the stage does not exist or has only warm-up.
const Stage* measured_stage(const Stages& stages, std::string_view name) {
  const auto known = std::ranges::find(stages.stages, name, &Stage::name);
  return known == stages.stages.end() || known->wall.count == 0 ? nullptr : &*known;
}

std::vector<profile::Stage1Stage> stage1_stages(const trace::WorkloadMetrics& workload,
                                                const Stages& stages) {
  std::vector<profile::Stage1Stage> rows;
  for (const trace::WorkloadMetrics::StageTiming& timing : workload.stages) {
    profile::Stage1Stage& row = rows.emplace_back();
    row.name = to_printable(timing.name);
    row.mean = profile::Milliseconds{timing.mean_ms};
    row.std = quantity<profile::Milliseconds>(timing.std_ms);
    if (const Stage* stage = measured_stage(stages, timing.name)) {
      row.captured_mean = to_milliseconds(stage->wall.mean);
      row.captured_over_stage1 = ratio(row.captured_mean->value, timing.mean_ms);
    }
  }
  for (const trace::WorkloadMetrics::StageMfu& mfu : workload.mfu_per_stage) {
    const std::string name = to_printable(mfu.name);
    auto row = std::ranges::find(rows, name, &profile::Stage1Stage::name);
    if (row == rows.end()) {
      rows.emplace_back().name = name;
      row = rows.end() - 1;
    }
    row->mfu = profile::Share{mfu.mfu};
  }
  return rows;
}

void add_rates(double per_token, const UseOfPeaks& use, profile::TokenTimes& token_times) {
  if (per_token <= 0) return;
  const double per_sequence = kNanosecondsPerSecond / per_token;
  token_times.tokens_per_s_per_sequence = profile::TokensPerSecond{per_sequence};
  if (const auto& batch = use.workload.batch) {
    token_times.tokens_per_s = profile::TokensPerSecond{per_sequence * static_cast<double>(*batch)};
  }
}

// Over all stages, as for one stage: GPU busy time over traced wall time.
std::optional<profile::Share> busy_share(const Stages& stages, const Budgets& budgets) {
  double wall = 0;
  double busy = 0;
  for (size_t i = 0; i < stages.stages.size(); ++i) {
    const Stage& stage = stages.stages[i];
    wall += stage.wall.total();
    busy += stage.busy.total();
    if (i >= budgets.stages.size()) continue;
    wall -= budgets.stages[i].not_traced() * static_cast<double>(stage.wall.count);
  }
  return share(busy, wall);
}

}  // namespace

std::optional<profile::Overhead> overhead(
    const Prepared& in, const std::optional<profile::CollectorOverhead>& measured) {
  const RunRecord& run = in.options.run;
  if (run.overhead.empty() && !measured) return std::nullopt;
  return profile::Overhead{run.overhead, {kMuchOverhead}, measured};
}

std::optional<profile::Stage1> stage1(const trace::Trace& trace, const Stages& stages) {
  const auto& from = trace.workload;
  if (!from) return std::nullopt;
  return profile::Stage1{to_printable(from->path),
                         unless_empty(from->model),
                         stage1_stages(*from, stages),
                         quantity<profile::TokensPerSecond>(from->tokens_per_s),
                         quantity<profile::Share>(from->mfu_model_level),
                         from->peak_tflops,
                         from->prompt_tokens,
                         from->new_tokens,
                         from->batch,
                         from->images};
}

profile::TokenTimes token_times(const Prepared& in, const Stages& stages, const Budgets& budgets,
                                const UseOfPeaks& use,
                                const std::vector<profile::ServedWindow>& windows,
                                const std::optional<profile::Requests>& requests) {
  const TokenWalls walls = token_walls(stages);
  profile::TokenTimes result = analysis::token_times(walls);
  const Stage* prefill = measured_stage(stages, profile::kPrefill);
  const Stage* decode = measured_stage(stages, profile::kDecode);
  const bool whole = !stages.serving && !in.options.selection.steps;
  if (whole && prefill != nullptr && decode != nullptr) {
    result.request = to_milliseconds(prefill->wall.mean + decode->wall.mean);
  }
  add_rates(summarize(walls.per_token).mean, use, result);
  result.gpu_busy_share_of_wall = busy_share(stages, budgets);
  result.served = served_or_estimated(requests, windows);
  return result;
}

}  // namespace llmprof::analysis::result
