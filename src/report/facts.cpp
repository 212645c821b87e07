#include "report/facts.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/units.h"
#include "report/typical.h"

namespace llmprof::report {
namespace {

constexpr auto kNotTraced = static_cast<size_t>(analysis::BudgetPart::not_traced);

std::optional<double> ratio(double part, double whole) {
  if (whole <= 0) return std::nullopt;
  return part / whole;
}

std::optional<double> ratio(uint64_t part, uint64_t whole) {
  return ratio(static_cast<double>(part), static_cast<double>(whole));
}

double total(const analysis::Statistics& statistics) {
  return statistics.mean * static_cast<double>(statistics.count);
}

void count_instances(const analysis::Stages& stages, Facts& told) {
  std::vector<StageFacts>& facts = told.stages;
  for (const analysis::StageInstance& instance : stages.instances) {
    StageFacts& stage = facts[instance.stage];
    told.instance_of_stage.push_back(stage.instances);
    ++stage.instances;
    if (instance.warmup) {
      ++stage.warmups;
    } else {
      stage.steps += instance.step_count;
    }
  }
  for (const analysis::Step& step : stages.steps) {
    const analysis::StageInstance& instance = stages.instances[step.instance.index()];
    if (step.kind == analysis::StepKind::decode && !instance.warmup)
      ++facts[instance.stage].decode_steps;
  }
}

void add_budget(const analysis::StageBudget& budget, StageFacts& stage) {
  if (budget.instances == 0) return;
  const auto instances = static_cast<double>(budget.instances);
  Nanoseconds wall = 0;
  for (const Nanoseconds time : budget.total) wall += time;
  Nanoseconds idle = 0;
  const auto traced_steps = static_cast<double>(stage.decode_steps);
  const Nanoseconds not_traced = budget.total[kNotTraced];
  for (size_t part = 0; part < analysis::kBudgetParts; ++part) {
    const Nanoseconds time = budget.total[part];
    if (analysis::is_idle(part)) idle += time;
    if (time == 0) continue;
    const auto of_all = static_cast<double>(time);
    BudgetRow row{part, time,        of_all / instances, of_all / static_cast<double>(wall),
                  0,    std::nullopt};
    if (part != kNotTraced) {
      row.share_of_traced = of_all / static_cast<double>(wall - not_traced);
      row.per_step = ratio(of_all, traced_steps);
    }
    stage.budget.push_back(row);
  }
  std::stable_sort(stage.budget.begin(), stage.budget.end(),
                   [](const BudgetRow& a, const BudgetRow& b) { return a.total > b.total; });
  if (stage.decode_steps > 0) {
    const uint64_t untraced = stage.tracing.steps_all - stage.tracing.steps_traced;
    stage.wall_per_step =
        static_cast<double>(wall) / (traced_steps + static_cast<double>(untraced));
  }
  stage.idle = static_cast<double>(idle) / instances;
  stage.idle_share = ratio(static_cast<double>(idle), static_cast<double>(wall - not_traced));
  if (not_traced > 0) stage.not_traced = static_cast<double>(not_traced) / instances;
}

void add_utilization(const analysis::StageUtilization& use, const analysis::Stage& stage,
                     StageFacts& facts) {
  facts.utilization = &use;
  if (use.floor) facts.wall_over_floor = ratio(stage.wall.mean, static_cast<double>(*use.floor));
  if (use.recorded && !use.from_operators) {
    facts.recorded_over_model = ratio(use.recorded->flops, use.cost.flops());
  }
  facts.intensity = ratio(use.cost.flops(), use.cost.bytes());
  if (use.peak_flops > 0) facts.ridge = ratio(use.peak_flops, use.peak_bandwidth);
}

// Over all instances: what GPU times can be shares of.
double traced_wall(const analysis::Stage& stage, const StageFacts& facts) {
  return total(stage.wall) - facts.not_traced.value_or(0) * static_cast<double>(stage.wall.count);
}

void add_stage_facts(const analysis::Profile& profile, Facts& told) {
  const analysis::Stages& stages = profile.stages;
  std::vector<StageFacts>& facts = told.stages;
  facts.resize(stages.stages.size());
  count_instances(stages, told);
  for (size_t i = 0; i < facts.size(); ++i) {
    facts[i].tracing = analysis::stage_tracing(stages, static_cast<uint32_t>(i));
  }
  for (const analysis::StageCounters& counters : profile.counters.stages) {
    if (counters.instances > 0) facts[counters.stage].counters = &counters;
  }
  for (const analysis::StageBudget& budget : profile.budgets.stages)
    add_budget(budget, facts[budget.stage]);
  for (const analysis::StageUtilization& use : profile.utilization.stages) {
    add_utilization(use, stages.stages[use.stage], facts[use.stage]);
  }
  double all = 0;
  for (const analysis::Stage& stage : stages.stages) all += total(stage.wall);
  for (size_t i = 0; i < facts.size(); ++i) {
    const analysis::Stage& stage = stages.stages[i];
    facts[i].share_of_stage_time = ratio(total(stage.wall), all).value_or(0);
    facts[i].busy_share = ratio(total(stage.busy), traced_wall(stage, facts[i]));
  }
}

const analysis::Stage* find_stage(const analysis::Stages& stages, std::string_view name) {
  const auto found = std::find_if(stages.stages.begin(), stages.stages.end(),
                                  [&](const analysis::Stage& stage) { return stage.name == name; });
  return found == stages.stages.end() || found->wall.count == 0 ? nullptr : &*found;
}

std::string_view part_of_layer(std::string_view name) {
  const size_t slash = name.find('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

// "outside layers" is a row of its own beside the layers.
bool is_layer(const analysis::LayerRow& row) { return !row.part && row.name != "outside layers"; }

LayerSummary summarise_layers(const std::vector<analysis::LayerRow>& rows, uint32_t stage,
                              uint32_t model) {
  LayerSummary summary;
  summary.stage = stage;
  summary.model = model;
  std::map<std::string_view, double> parts;
  double all = 0;
  double in_layers = 0;
  double in_parts = 0;
  for (const analysis::LayerRow& row : rows) {
    if (row.stage != stage || row.model != model) continue;
    const double time = per_pass(row, row.kernel_sum);
    if (is_layer(row)) {
      summary.passes = row.passes;
      summary.min = summary.layers == 0 ? time : std::min(summary.min, time);
      summary.max = std::max(summary.max, time);
      ++summary.layers;
      in_layers += time;
    } else {
      parts[part_of_layer(row.name)] += time;
      if (row.part) in_parts += time;
    }
    if (!row.part) all += time;
  }
  if (summary.layers > 0) summary.mean = in_layers / static_cast<double>(summary.layers);
  if (in_layers > in_parts) {
    parts[in_parts > 0 ? "layers, outside of their parts" : "layers"] = in_layers - in_parts;
  }
  for (const auto& [name, time] : parts) {
    summary.parts.push_back({std::string(name), time, ratio(time, all).value_or(0)});
  }
  std::stable_sort(summary.parts.begin(), summary.parts.end(),
                   [](const auto& a, const auto& b) { return a.time > b.time; });
  return summary;
}

std::vector<LayerSummary> layer_summaries(const analysis::Profile& profile) {
  std::vector<LayerSummary> summaries;
  std::set<std::pair<uint32_t, uint32_t>> stages_and_models;
  for (const analysis::LayerRow& row : profile.layers.rows)
    stages_and_models.emplace(row.stage, row.model);
  for (const auto& [stage, model] : stages_and_models) {
    LayerSummary summary = summarise_layers(profile.layers.rows, stage, model);
    if (summary.layers > 0) summaries.push_back(std::move(summary));
  }
  return summaries;
}

std::vector<Stage1Row> stage1_rows(const analysis::Profile& profile) {
  std::vector<Stage1Row> rows;
  const auto& workload = profile.trace->workload;
  if (!workload) return rows;
  for (const trace::WorkloadMetrics::StageTiming& timing : workload->stages) {
    Stage1Row row;
    row.stage = timing.name;
    row.mean_ms = timing.mean_ms;
    row.std_ms = timing.std_ms;
    if (const analysis::Stage* stage = find_stage(profile.stages, timing.name)) {
      row.captured_ms = stage->wall.mean / kNanosecondsPerMillisecond;
      row.captured_over_stage1 = ratio(*row.captured_ms, timing.mean_ms);
    }
    rows.push_back(std::move(row));
  }
  for (const trace::WorkloadMetrics::StageMfu& mfu : workload->mfu_per_stage) {
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const Stage1Row& known) { return known.stage == mfu.name; });
    if (row == rows.end()) {
      rows.emplace_back().stage = mfu.name;
      row = rows.end() - 1;
    }
    row->mfu = mfu.mfu;
  }
  return rows;
}

std::vector<NamedKernel> top_names(const analysis::KernelRanking& ranking) {
  constexpr size_t kTopNames = 10;
  std::vector<NamedKernel> names;
  std::map<size_t, size_t> place;  // of a name
  for (size_t i = 0; i < ranking.rows.size(); ++i) {
    const analysis::KernelRow& row = ranking.rows[i];
    const auto [known, is_new] = place.try_emplace(row.name.index(), names.size());
    if (is_new) names.emplace_back().row = i;
    NamedKernel& name = names[known->second];
    name.devices += (name.devices.empty() ? "" : ", ") + row.device;
    name.calls += row.calls;
    name.total += row.total;
    name.share += row.share;
  }
  std::stable_sort(names.begin(), names.end(),
                   [](const NamedKernel& a, const NamedKernel& b) { return a.total > b.total; });
  names.resize(std::min(names.size(), kTopNames));
  return names;
}

std::optional<BoundShares> bound_shares(const analysis::Profile& profile) {
  if (profile.roofline.kernels.empty()) return std::nullopt;
  BoundShares shares;
  double known = 0;
  for (const analysis::KernelRoofline& kernel : profile.roofline.kernels) {
    const double share = profile.ranking.rows[kernel.row].share;
    switch (kernel.bound) {
      case analysis::KernelRoofline::Bound::memory:
        shares.memory += share;
        break;
      case analysis::KernelRoofline::Bound::compute:
        shares.compute += share;
        break;
      case analysis::KernelRoofline::Bound::latency:
        shares.latency += share;
        break;
      case analysis::KernelRoofline::Bound::unknown:
        continue;
    }
    known += share;
  }
  shares.unknown = std::max(0.0, 1 - known);
  return shares;
}

OperatorCoverage operator_coverage(const analysis::Profile& profile) {
  OperatorCoverage coverage;
  const analysis::Operators& operators = profile.operators;
  for (const analysis::OperatorRow& row : operators.rows) coverage.time += row.cuda_self;
  const Nanoseconds all_work = profile.totals.kernel_sum + profile.totals.memory_operation_sum;
  coverage.share_of_gpu_time =
      ratio(static_cast<double>(coverage.time),
            static_cast<double>(operators.device_time > 0 ? operators.device_time : all_work));
  coverage.share_of_kernels =
      ratio(operators.kernels, operators.kernels + operators.kernels_without);
  coverage.graph_kernels = operators.graph_kernels;
  return coverage;
}

void add_token_rates(const analysis::Profile& profile, Facts& facts) {
  const auto& per_token = profile.stages.time_per_output_token;
  if (!per_token || per_token->mean <= 0) return;
  facts.tokens_per_s_per_sequence = kNanosecondsPerSecond / per_token->mean;
  if (const auto& batch = profile.utilization.workload.batch) {
    facts.tokens_per_s = *facts.tokens_per_s_per_sequence * static_cast<double>(batch->value);
  }
}

}  // namespace

Facts derive_facts(const analysis::Profile& profile) {
  Facts facts;
  const analysis::Stages& stages = profile.stages;
  add_stage_facts(profile, facts);
  double wall = 0;
  double busy = 0;
  for (size_t i = 0; i < facts.stages.size(); ++i) {
    facts.decode_steps += facts.stages[i].decode_steps;
    wall += traced_wall(stages.stages[i], facts.stages[i]);
    busy += total(stages.stages[i].busy);
  }
  facts.busy_share = ratio(busy, wall);
  const analysis::Stage* prefill = find_stage(stages, "prefill");
  const analysis::Stage* decode = find_stage(stages, "decode");
  if (!stages.serving && !profile.selection.steps && prefill != nullptr && decode != nullptr) {
    facts.request = prefill->wall.mean + decode->wall.mean;
    facts.request_spread = widely_spread(prefill->wall) || widely_spread(decode->wall);
  }
  add_token_rates(profile, facts);
  facts.kernels_in_stages = ratio(stages.coverage.kernels_in_stages, stages.coverage.kernels);
  facts.time_in_stages = ratio(static_cast<double>(stages.coverage.time_in_stages),
                               static_cast<double>(stages.coverage.time));
  facts.layers = layer_summaries(profile);
  facts.stage1 = stage1_rows(profile);
  facts.top_names = top_names(profile.ranking);
  facts.bounds = bound_shares(profile);
  facts.operators = operator_coverage(profile);
  return facts;
}

std::optional<double> time_per_token(const Facts& facts,
                                     const std::vector<analysis::StageTime>& stages) {
  Nanoseconds time = 0;
  for (size_t i = 0; i < stages.size(); ++i) {
    if (facts.stages[i].decode_steps > 0) time += stages[i].steady_total;
  }
  if (time == 0) return std::nullopt;
  return static_cast<double>(time) / static_cast<double>(facts.decode_steps);
}

std::optional<double> tokens_per_second(const analysis::BatchTime& batch) {
  return ratio(static_cast<double>(batch.batch) * kNanosecondsPerSecond, batch.step_wall.mean);
}

double per_pass(const analysis::LayerRow& row, Nanoseconds time) {
  return static_cast<double>(time) / static_cast<double>(std::max<uint64_t>(row.passes, 1));
}

}  // namespace llmprof::report
