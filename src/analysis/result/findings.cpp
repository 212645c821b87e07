#include "analysis/result/parts.h"
#include "analysis/statistics/values.h"

namespace llmprof::analysis::result {
namespace {

std::optional<profile::Milliseconds> per_token(double time, double tokens) {
  return to_milliseconds(ratio(time, tokens));
}

profile::RecoverableKernel kernel(const KernelRow& ranked, const KernelSavings& from,
                                  const StageSavings& stage) {
  profile::RecoverableKernel row;
  row.short_name = ranked.description.short_name;
  row.device = ranked.device;
  row.time = to_milliseconds(from.time);
  row.floor = to_milliseconds(from.floor);
  row.floor_rule_reasons = from.floor_rule;
  row.floor_basis = floor_basis(from);
  row.recoverable = to_milliseconds(from.recoverable());
  row.recoverable_per_token = per_token(from.recoverable(), stage.tokens);
  row.recoverable_per_output_token = per_token(from.recoverable(), stage.decode_steps);
  return row;
}

}  // namespace

std::vector<profile::StageRecoverable> recoverable(const Prepared& in, const Stages& stages,
                                                   const KernelRanking& ranking,
                                                   const std::vector<StageSavings>& of_stages,
                                                   const std::vector<KernelSavings>& of_kernels) {
  std::vector<profile::StageRecoverable> rows;
  for (const StageSavings& from : of_stages) {
    profile::StageRecoverable& row = rows.emplace_back();
    row.stage = to_printable(stages.stages[from.stage].name);
    row.wall = to_milliseconds(from.wall);
    row.bound = to_milliseconds(from.bound);
    row.bound_reasons = from.bound_reason;
    row.tokens = unless_zero(from.tokens);
    if (from.most < kAnySaving) row.most = to_milliseconds(from.most);
    for (const SavingsPart& part : from.parts) {
      row.parts.push_back({budget_part(part.part, in.device), to_milliseconds(part.time),
                           to_milliseconds(part.floor), std::nullopt,
                           to_milliseconds(part.recoverable()),
                           per_token(part.recoverable(), from.tokens),
                           per_token(part.recoverable(), from.decode_steps), part.floor_rule});
    }
    for (const KernelSavings& part : of_kernels) {
      if (part.stage != from.stage) continue;
      row.kernels.push_back(kernel(ranking.rows[part.row], part, from));
    }
  }
  return rows;
}

}  // namespace llmprof::analysis::result
