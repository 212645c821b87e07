#include <fmt/format.h>

#include <utility>

#include "report/documents/documents.h"
#include "report/format/figures.h"
#include "report/sections/section_words.h"

namespace llmprof::report {
namespace {

// Rows in the order of the table.
class Aggregates {
 public:
  void add(std::string metric, Cell unprofiled, Cell captured, Cell ratio = std::string(kMissing)) {
    rows_.push_back(
        {std::move(metric), std::move(unprofiled), std::move(captured), std::move(ratio)});
  }
  void captured(std::string metric, Cell value) {
    add(std::move(metric), std::string(kMissing), std::move(value));
  }
  [[nodiscard]] std::vector<AggregateRow> take() { return std::move(rows_); }

 private:
  std::vector<AggregateRow> rows_;
};

void add_unprofiled_stages(const profile::Profile& profile, Aggregates& rows) {
  if (!profile.stage1) return;
  for (const profile::Stage1Stage& stage : profile.stage1->stages) {
    if (!stage.mean) continue;
    rows.add(stage.name + " (ms)", mean_and_std(stage.mean, stage.std), ms(stage.captured_mean),
             ratio(stage.captured_over_stage1));
  }
}

void add_token_times(const profile::Profile& profile, Aggregates& rows) {
  const profile::TokenTimesShown& tokens = shown_tokens(profile);
  if (const auto& request = tokens.typical_request) {
    rows.captured("request: mean prefill plus mean decode (ms)", ms(request));
  }
  if (const auto& first = tokens.time_to_first_token) {
    if (is_spread(*first)) {
      rows.captured("time to first token, min to max (ms)", range_ms(*first));
    } else {
      rows.captured("time to first token, mean ± std (ms)", mean_and_std(*first));
    }
  }
  if (const auto& token = tokens.time_per_output_token) {
    if (is_spread(*token)) {
      if (token->typical == profile::Typical::median)
        rows.captured("time per output token, median (ms)", ms(token->p50));
      rows.captured("time per output token, min to max (ms)", range_ms(*token));
    } else {
      rows.captured("time per output token, mean ± std (ms)", mean_and_std(*token));
    }
  }
}

void add_rates(const profile::Profile& profile, Aggregates& rows) {
  const profile::TokenTimesShown& tokens = shown_tokens(profile);
  if (tokens.tokens_per_s_per_sequence) {
    const auto& token = tokens.time_per_output_token;
    rows.captured(token && is_spread(*token)
                      ? "tokens per second per sequence, from the mean time per output token"
                      : "tokens per second per sequence",
                  rate(tokens.tokens_per_s_per_sequence));
  }
  const auto unprofiled = profile.stage1 ? profile.stage1->tokens_per_s : std::nullopt;
  const bool batch_assumed = profile.workload.batch_source == "assumed";
  if ((tokens.tokens_per_s && !batch_assumed) || unprofiled) {
    rows.add("tokens per second, whole batch", rate(unprofiled), rate(tokens.tokens_per_s));
  }
  if (profile.stage1 && profile.stage1->mfu_model_level) {
    rows.add("MFU of the whole model", percent(profile.stage1->mfu_model_level),
             std::string(kMissing));
  }
}

void add_kernel_totals(const profile::Profile& profile, Aggregates& rows) {
  if (const auto& bounds = profile.roofline.share_of_kernel_time) {
    rows.captured("kernel time bound by memory, share", percent(bounds->memory));
    rows.captured("kernel time bound by compute, share", percent(bounds->compute));
    if (latency_is_known(profile.roofline)) {
      rows.captured("kernel time bound by latency, share", percent(bounds->latency));
    }
    rows.captured("kernel time with unknown bound, share", percent(bounds->unknown));
  }
  const profile::Totals& totals = profile.totals;
  if (totals.gpu_count > 1) {
    const bool on_cpu = profile.context.device_kind == profile::DeviceKind::cpu;
    rows.captured(on_cpu ? "CPUs" : "GPUs", grouped(totals.gpu_count));
  }
  rows.captured("kernels", grouped(totals.kernel_count));
  rows.captured("kernel time (ms)", ms(totals.kernel_sum));
  if (covered_share(profile) && !profile.stages.empty()) {
    rows.captured("kernel time inside stages, share", percent(covered_share(profile)));
  }
  if (totals.hidden_graphs) {
    rows.captured("GPU time in CUDA graphs whose kernels were not recorded, share",
                  percent(totals.hidden_graphs->share_of_gpu_time));
  }
}

}  // namespace

std::vector<AggregateRow> map_stage1_metrics_to_stats(const profile::Profile& profile) {
  Aggregates rows;
  add_unprofiled_stages(profile, rows);
  add_token_times(profile, rows);
  add_rates(profile, rows);
  if (const auto& busy = shown_tokens(profile).gpu_busy_share_of_wall) {
    rows.captured(fmt::format("{} busy, share of all stages' wall time", device_word(profile)),
                  percent(busy));
  }
  add_kernel_totals(profile, rows);
  return rows.take();
}

}  // namespace llmprof::report
