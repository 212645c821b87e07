#include "report/json/json_sections.h"

namespace llmprof::report {
namespace {

void add_count(Json& json, const std::string& name,
               const std::optional<analysis::TokenCount>& count) {
  json[name] = count ? Json(count->value) : Json(nullptr);
  json[name + "_source"] = count ? text_or_null(count->source) : Json(nullptr);
}

Json stage1_rows_json(const Facts& facts) {
  Json rows = Json::array();
  for (const Stage1Row& row : facts.stage1) {
    rows.push_back({{"name", to_printable(row.stage)},
                    {"mean_ms", value_or_null(row.mean_ms)},
                    {"std_ms", value_or_null(row.std_ms)},
                    {"mfu", value_or_null(row.mfu)},
                    {"captured_mean_ms", value_or_null(row.captured_ms)},
                    {"captured_over_stage1", value_or_null(row.captured_over_stage1)}});
  }
  return rows;
}

}  // namespace

Json model_json(const analysis::Profile& profile) {
  const auto& model = profile.utilization.model;
  if (!model) return nullptr;
  return {{"name", text_or_null(model->name)},
          {"variant", text_or_null(model->variant)},
          {"params", llm::parameter_count(*model)},
          {"active_params", llm::active_parameter_count(*model)},
          {"dtype", model->dtype.name},
          {"weights_dtype", model->weights.name},
          {"kv_cache_dtype", model->kv_cache.name},
          {"layers", model->layers.size()},
          {"weight_bytes", llm::weight_bytes(*model)},
          {"kv_bytes_per_token", llm::kv_bytes_per_token(*model)},
          {"source", text_or_null(model->source)},
          {"notes", model->notes}};
}

Json workload_json(const analysis::Profile& profile) {
  const analysis::Workload& workload = profile.utilization.workload;
  Json json = {{"command", text_or_null(workload.command)}};
  add_count(json, "batch", workload.batch);
  add_count(json, "prompt_tokens", workload.prompt_tokens);
  add_count(json, "new_tokens", workload.new_tokens);
  json["images"] = number_or_null(workload.images);
  json["tp"] = workload.parallel.tp;
  json["pp"] = workload.parallel.pp;
  json["ep"] = workload.parallel.ep;
  return json;
}

Json utilization_json(const analysis::Profile& profile) {
  const analysis::Utilization& use = profile.utilization;
  Json json = {{"gpu", nullptr}, {"cpu", nullptr}, {"why_not", text_or_null(use.why_not)}};
  if (use.gpu && use.gpu->is_measured()) {
    json["cpu"] = {{"name", use.gpu->name},
                   {"memory_bandwidth_bytes_per_s", use.gpu->memory_bandwidth},
                   {"flops_per_s", value_or_null(use.gpu->fp32)},
                   {"number_format", use.gpu->measured_format},
                   {"method", text_or_null(use.gpu->measured_how)}};
  } else if (use.gpu) {
    json["gpu"] = {{"name", use.gpu->name},
                   {"memory_bandwidth_bytes_per_s", use.gpu->memory_bandwidth},
                   {"bf16_flops_per_s", use.gpu->tensor_bf16}};
  }
  return json;
}

Json stage1_json(const analysis::Profile& profile, const Facts& facts) {
  const auto& workload = profile.trace->workload;
  if (!workload) return nullptr;
  return {{"path", to_printable(workload->path)},
          {"model", text_or_null(workload->model)},
          {"stages", stage1_rows_json(facts)},
          {"tokens_per_s", value_or_null(workload->tokens_per_s)},
          {"mfu_model_level", value_or_null(workload->mfu_model_level)},
          {"peak_tflops", value_or_null(workload->peak_tflops)},
          {"prompt_tokens", value_or_null(workload->prompt_tokens)},
          {"new_tokens", value_or_null(workload->new_tokens)},
          {"batch", value_or_null(workload->batch)},
          {"images", value_or_null(workload->images)}};
}

}  // namespace llmprof::report
