#include "report/json/json_sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kInstanceFields = 14;

Json device_json(const trace::Trace& trace, trace::DeviceId device) {
  return device.valid() ? Json(analysis::device_label(trace, device)) : Json(nullptr);
}

// A CPU has one name for several parts.
Json budget_ns(const analysis::PartTimes& parts, trace::DeviceKind device) {
  Json json = Json::object();
  for (size_t part = 0; part < analysis::kBudgetParts; ++part) {
    if (parts[part] == 0) continue;
    const std::string name(analysis::budget_part_name(part, device));
    json[name] = json.value(name, Nanoseconds{0}) + parts[part];
  }
  return json;
}

Json instance_json(const analysis::Profile& profile, size_t row) {
  const analysis::StageInstance& instance = profile.stages.instances[row];
  JsonObject json(kInstanceFields);
  json.add("start_ms", milliseconds(instance.start));
  json.add("start_ns", instance.start);
  json.add("wall_ms", milliseconds(instance.wall()));
  json.add("range_ms", milliseconds(instance.range_end - instance.start));
  json.add("gpu_sum_ms", milliseconds(instance.work.kernel_sum));
  json.add("gpu_busy_ms", milliseconds(instance.work.busy));
  json.add("memory_sum_ms", milliseconds(instance.work.memory_sum));
  json.add("hidden_graph_sum_ms", milliseconds(instance.work.hidden_graph_sum));
  json.add("kernel_count", instance.work.kernel_count);
  json.add("steps", instance.step_count);
  json.add("untraced_steps", instance.untraced_steps);
  json.add("warmup", instance.warmup);
  json.add("device", device_json(*profile.trace, instance.device));
  json.add("budget_ns", row < profile.budgets.instances.size()
                            ? budget_ns(profile.budgets.instances[row], profile.device)
                            : Json(nullptr));
  return json.take();
}

Json budget_json(const StageFacts& facts, trace::DeviceKind device) {
  Json rows = Json::array();
  for (const BudgetRow& row : facts.budget) {
    rows.push_back({{"part", analysis::budget_part_name(row.part, device)},
                    {"ms", milliseconds(row.time)},
                    {"share", row.share},
                    {"share_of_traced", row.share_of_traced},
                    {"ms_per_step", milliseconds(row.per_step)},
                    {"total_ns", row.total}});
  }
  return rows;
}

Json cost_json(const analysis::StageUtilization& use) {
  Json rows = Json::array();
  for (const llm::CostPart& part : use.cost.parts) {
    rows.push_back({{"part", part.name},
                    {"flops", part.flops},
                    {"weight_bytes", part.weight_bytes},
                    {"kv_bytes", part.kv_bytes}});
  }
  return rows;
}

// What operators recorded; null where they did not.
Json recorded_json(const StageFacts& facts) {
  if (facts.utilization == nullptr || !facts.utilization->recorded) return nullptr;
  const analysis::StageUtilization::Recorded& own = *facts.utilization->recorded;
  return {
      {"flops", own.flops},
      {"bytes", own.bytes},
      {"flops_over_model", value_or_null(facts.recorded_over_model)},
      {"mfu", {{"wall", value_or_null(own.mfu_wall)}, {"gpu_busy", value_or_null(own.mfu_busy)}}},
      {"mbu", {{"wall", value_or_null(own.mbu_wall)}, {"gpu_busy", value_or_null(own.mbu_busy)}}}};
}

// Null where all of it was traced.
Json tracing_json(const StageFacts& facts) {
  if (facts.tracing.whole() && !facts.not_traced) return nullptr;
  return {{"steps_traced", facts.tracing.steps_traced},
          {"steps_all", facts.tracing.steps_all},
          {"share_of_steps", value_or_null(facts.tracing.share)},
          {"not_traced_ms", milliseconds(facts.not_traced)}};
}

// Every field is there, null where nothing is known of the stage's use of the GPU.
void add_utilization(Json& json, const StageFacts& facts) {
  static const analysis::StageUtilization unknown;
  const analysis::StageUtilization& use =
      facts.utilization != nullptr ? *facts.utilization : unknown;
  const bool costed = !use.cost.parts.empty();
  json["flops"] = costed ? Json(use.cost.flops()) : Json(nullptr);
  json["bytes"] = costed ? Json(use.cost.bytes()) : Json(nullptr);
  json["mfu"] = {{"wall", value_or_null(use.mfu_wall)}, {"gpu_busy", value_or_null(use.mfu_busy)}};
  json["mbu"] = {{"wall", value_or_null(use.mbu_wall)}, {"gpu_busy", value_or_null(use.mbu_busy)}};
  json["why_not"] = text_or_null(use.why_not);
  json["basis"] = text_or_null(use.basis);
  json["cost"] = cost_json(use);
  json["peak_flops_per_s"] = number_or_null(use.peak_flops);
  json["peak_name"] = text_or_null(use.peak_name);
  json["peak_bandwidth_bytes_per_s"] = number_or_null(use.peak_bandwidth);
  json["from_operators"] = use.from_operators;
  json["recorded"] = recorded_json(facts);
  json["floor_ms"] = milliseconds(use.floor);
  json["wall_over_floor"] = value_or_null(facts.wall_over_floor);
  json["memory_bound"] = use.floor ? Json(use.memory_bound) : Json(nullptr);
  json["flops_per_byte"] = value_or_null(facts.intensity);
  json["ridge_flops_per_byte"] = value_or_null(facts.ridge);
}

Json stage_json(const analysis::Profile& profile, const analysis::Stage& stage,
                const StageFacts& facts, Json instances) {
  Json json = {
      {"name", to_printable(stage.name)},
      {"source", analysis::to_string(stage.source)},
      {"evidence", text_or_null(stage.evidence)},
      {"instances", std::move(instances)},
      {"instance_count", facts.instances},
      {"warmup_count", facts.warmups},
      {"step_count", facts.steps},
      {"share_of_stage_time", facts.share_of_stage_time},
      {"wall_ms", statistics_ms(stage.wall)},
      {"gpu_sum_ms", statistics_ms(stage.kernel_sum)},
      {"gpu_busy_ms", statistics_ms(stage.busy)},
      {"gpu_busy_share_of_wall", value_or_null(facts.busy_share)},
      {"idle_ms", milliseconds(facts.idle)},
      {"idle_share_of_wall", value_or_null(facts.idle_share)},
      {"kernel_count", statistics_plain(stage.kernel_count)},
      {"step_wall_ms", stage.step_wall.count > 0 ? statistics_ms(stage.step_wall) : Json(nullptr)}};
  add_utilization(json, facts);
  json["tracing"] = tracing_json(facts);
  json["measured"] = measured_json(facts);
  json["budget"] =
      profile.budgets.stages.empty() ? Json(nullptr) : budget_json(facts, profile.device);
  return json;
}

Json batches_json(const analysis::Stages& stages) {
  Json rows = Json::array();
  for (const analysis::BatchTime& row : stages.by_batch) {
    rows.push_back({{"batch", row.batch},
                    {"step_wall_ms", statistics_ms(row.step_wall)},
                    {"tokens_per_s", value_or_null(tokens_per_second(row))}});
  }
  return rows;
}

}  // namespace

Json stage_finding_json(const analysis::Profile& profile) {
  const analysis::Stages& stages = profile.stages;
  return {{"serving", stages.stages.empty() ? Json(nullptr) : Json(stages.serving)},
          {"confidence", value_or_null(stages.confidence)},
          {"reason", text_or_null(stages.reason)}};
}

Json coverage_json(const analysis::Profile& profile, const Facts& facts) {
  const analysis::Coverage& coverage = profile.stages.coverage;
  if (coverage.kernels == 0) return nullptr;
  return {{"kernels", coverage.kernels},
          {"kernels_in_stages", coverage.kernels_in_stages},
          {"kernels_share", value_or_null(facts.kernels_in_stages)},
          {"kernel_sum_ms", milliseconds(coverage.time)},
          {"kernel_sum_in_stages_ms", milliseconds(coverage.time_in_stages)},
          {"kernel_sum_share", value_or_null(facts.time_in_stages)},
          {"hidden_graph_ms", milliseconds(coverage.replay_time)},
          {"hidden_graph_in_stages_ms", milliseconds(coverage.replay_time_in_stages)}};
}

Json stages_json(const analysis::Profile& profile, const Facts& facts) {
  const analysis::Stages& stages = profile.stages;
  std::vector<Json> instances(stages.stages.size(), Json::array());
  for (size_t row = 0; row < stages.instances.size(); ++row) {
    instances[stages.instances[row].stage].push_back(instance_json(profile, row));
  }
  Json rows = Json::array();
  for (size_t i = 0; i < stages.stages.size(); ++i) {
    rows.push_back(stage_json(profile, stages.stages[i], facts.stages[i], std::move(instances[i])));
  }
  return rows;
}

Json stage_notes_json(const analysis::Profile& profile) {
  Json rows = Json::array();
  for (const analysis::StageNote& note : profile.stages.notes) {
    rows.push_back({{"stage", to_printable(profile.stages.stages[note.stage].name)},
                    {"name", to_printable(note.name)},
                    {"instances", note.instances},
                    {"range_ms", milliseconds(note.range_time)},
                    {"kernel_count", note.kernel_count},
                    {"gpu_sum_ms", milliseconds(note.kernel_sum)}});
  }
  return rows;
}

Json token_times_json(const analysis::Profile& profile, const Facts& facts) {
  const analysis::Stages& stages = profile.stages;
  return {{"time_to_first_token_ms", statistics_ms(stages.time_to_first_token)},
          {"time_per_output_token_ms", statistics_ms(stages.time_per_output_token)},
          {"request_ms", milliseconds(facts.request)},
          {"tokens_per_s_per_sequence", value_or_null(facts.tokens_per_s_per_sequence)},
          {"tokens_per_s", value_or_null(facts.tokens_per_s)},
          {"gpu_busy_share_of_wall", value_or_null(facts.busy_share)},
          {"by_batch", batches_json(stages)}};
}

}  // namespace llmprof::report
