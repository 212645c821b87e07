#include <fmt/format.h>

#include <utility>

#include "report/documents/documents.h"
#include "report/format/figures.h"
#include "report/sections/section_words.h"

namespace llmprof::report {
namespace {

using Rows = std::vector<AggregateRow>;

void add_captured(std::string metric, Cell value, Rows& rows) {
  rows.push_back(
      {std::move(metric), std::string(kMissing), std::move(value), std::string(kMissing)});
}

void add_unprofiled_stages(const profile::Profile& profile, Rows& rows) {
  if (!profile.stage1) return;
  for (const profile::Stage1Stage& stage : profile.stage1->stages) {
    if (!stage.mean) continue;
    rows.push_back({stage.name + " (ms)", mean_and_std(stage.mean, stage.std),
                    ms(stage.captured_mean), ratio(stage.captured_over_stage1)});
  }
}

void add_token_times(const profile::Profile& profile, Rows& rows) {
  const profile::TokenTimesShown& tokens = shown_tokens(profile);
  if (const auto& request = tokens.typical_request) {
    add_captured("request: mean prefill plus mean decode (ms)", ms(request), rows);
  }
  const auto add = [&](const std::string& metric, const profile::ShownTimes& times) {
    if (is_spread(times)) {
      add_captured(metric + ", min to max (ms)", range_ms(times), rows);
    } else {
      add_captured(metric + ", mean ± std (ms)", mean_and_std(times), rows);
    }
  };
  if (const auto& first = tokens.time_to_first_token) add("time to first token", *first);
  if (const auto& token = tokens.time_per_output_token) {
    if (token->typical == profile::Typical::median) {
      add_captured("time per output token, median (ms)", ms(token->p50), rows);
    }
    add("time per output token", *token);
  }
}

void add_rates(const profile::Profile& profile, Rows& rows) {
  const profile::TokenTimesShown& tokens = shown_tokens(profile);
  if (tokens.tokens_per_s_per_sequence) {
    const auto& token = tokens.time_per_output_token;
    add_captured(token && is_spread(*token)
                     ? "tokens per second per sequence, from the mean time per output token"
                     : "tokens per second per sequence",
                 in_unit(tokens.tokens_per_s_per_sequence), rows);
  }
  const auto unprofiled = profile.stage1 ? profile.stage1->tokens_per_s : std::nullopt;
  const bool batch_assumed = profile.workload.batch_source == "assumed";
  if ((tokens.tokens_per_s && !batch_assumed) || unprofiled) {
    rows.push_back({"tokens per second, whole batch", in_unit(unprofiled),
                    in_unit(tokens.tokens_per_s), std::string(kMissing)});
  }
  if (profile.stage1 && profile.stage1->mfu_model_level) {
    rows.push_back({"MFU of the whole model", percent(profile.stage1->mfu_model_level),
                    std::string(kMissing), std::string(kMissing)});
  }
}

void add_kernel_totals(const profile::Profile& profile, Rows& rows) {
  if (const auto& bounds = profile.roofline.share_of_kernel_time) {
    add_captured("kernel time bound by memory, share", percent(bounds->memory), rows);
    add_captured("kernel time bound by compute, share", percent(bounds->compute), rows);
    if (latency_is_known(profile.roofline)) {
      add_captured("kernel time bound by latency, share", percent(bounds->latency), rows);
    }
    add_captured("kernel time with unknown bound, share", percent(bounds->unknown), rows);
  }
  const profile::Totals& totals = profile.totals;
  if (totals.gpu_count > 1) {
    add_captured(on_cpu(profile) ? "CPUs" : "GPUs", grouped(totals.gpu_count), rows);
  }
  add_captured("kernels", grouped(totals.kernel_count), rows);
  add_captured("kernel time (ms)", ms(totals.kernel_sum), rows);
  if (covered_share(profile) && !profile.stages.empty()) {
    add_captured("kernel time inside stages, share", percent(covered_share(profile)), rows);
  }
  if (totals.hidden_graphs) {
    add_captured("GPU time in CUDA graphs whose kernels were not recorded, share",
                 percent(totals.hidden_graphs->share_of_gpu_time), rows);
  }
}

}  // namespace

std::vector<AggregateRow> map_stage1_metrics_to_stats(const profile::Profile& profile) {
  Rows rows;
  add_unprofiled_stages(profile, rows);
  add_token_times(profile, rows);
  add_rates(profile, rows);
  if (const auto& busy = shown_tokens(profile).gpu_busy_share_of_wall) {
    add_captured(fmt::format("{} busy, share of all stages' wall time", device_word(profile)),
                 percent(busy), rows);
  }
  add_kernel_totals(profile, rows);
  return rows;
}

}  // namespace llmprof::report
