#include <algorithm>

#include "analysis/result/parts.h"
#include "analysis/statistics/values.h"

namespace llmprof::analysis::result {
namespace {

// Share of the control run's time above which the timings of a pass are not representative.
constexpr double kMuchOverhead = 0.25;

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

}  // namespace

std::optional<profile::Overhead> overhead(
    const Prepared& in, const std::optional<profile::CollectorOverhead>& measured) {
  const RunRecord& run = in.options.run;
  if (run.overhead.empty() && !measured) return std::nullopt;
  profile::Overhead told;
  told.passes = run.overhead;
  told.warn_above_share = {kMuchOverhead};
  told.collector = measured;
  return told;
}

std::optional<profile::Stage1> stage1(const trace::Trace& trace, const Stages& stages) {
  const auto& from = trace.workload;
  if (!from) return std::nullopt;
  profile::Stage1 told;
  told.path = to_printable(from->path);
  told.model = unless_empty(from->model);
  told.stages = stage1_stages(*from, stages);
  told.tokens_per_s = quantity<profile::TokensPerSecond>(from->tokens_per_s);
  told.mfu_model_level = quantity<profile::Share>(from->mfu_model_level);
  told.peak_tflops = from->peak_tflops;
  told.prompt_tokens = from->prompt_tokens;
  told.new_tokens = from->new_tokens;
  told.batch = from->batch;
  told.images = from->images;
  return told;
}

}  // namespace llmprof::analysis::result
