#include "report/json/json_sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kStepFields = 13;

const std::string& stage_of(const analysis::Stages& stages, analysis::InstanceId instance) {
  return stages.stages[stages.instances[instance.index()].stage].name;
}

Json index_or_null(analysis::StepId step) {
  return step.valid() ? Json(step.index()) : Json(nullptr);
}

Json gap_json(const analysis::Profile& profile, const Facts& facts, const analysis::IdleGap& gap) {
  const analysis::Stages& stages = profile.stages;
  const analysis::StageInstance& instance = stages.instances[gap.instance.index()];
  return {{"stage", to_printable(stage_of(stages, gap.instance))},
          {"instance", facts.instance_of_stage[gap.instance.index()]},
          {"step", index_or_null(gap.step)},
          {"step_of_instance",
           gap.step.valid() ? Json(gap.step.index() - instance.first_step) : Json(nullptr)},
          {"after_start_ms", milliseconds(gap.start - instance.start)},
          {"ms", milliseconds(gap.end - gap.start)},
          {"between_steps", gap.between_steps},
          {"cause", analysis::budget_part_name(static_cast<size_t>(gap.cause), profile.device)},
          {"work_before", text_or_null(gap.work_before)},
          {"work_after", text_or_null(gap.work_after)},
          {"host", text_or_null(gap.host)}};
}

}  // namespace

Json steps_json(const analysis::Profile& profile, const Facts& facts) {
  const analysis::Stages& stages = profile.stages;
  Json rows = Json::array();
  rows.get_ref<Json::array_t&>().reserve(stages.steps.size());
  const auto& dram_bytes = profile.counters.step_bytes;
  for (size_t row = 0; row < stages.steps.size(); ++row) {
    const analysis::Step& step = stages.steps[row];
    JsonObject json(kStepFields);
    json.add("stage", to_printable(stage_of(stages, step.instance)));
    json.add("instance", facts.instance_of_stage[step.instance.index()]);
    json.add("kind", analysis::to_string(step.kind));
    json.add("batch", value_or_null(step.batch));
    json.add("tokens", value_or_null(step.tokens));
    json.add("layers", step.layers == 0 ? Json() : Json(step.layers));
    json.add("start_ms", milliseconds(step.start));
    json.add("wall_ms", milliseconds(step.wall()));
    json.add("gpu_sum_ms", milliseconds(step.work.kernel_sum));
    json.add("gpu_busy_ms", milliseconds(step.work.busy));
    json.add("kernel_count", step.work.kernel_count);
    json.add("after_untraced", step.after_untraced);
    json.add("dram_bytes", row < dram_bytes.size() ? value_or_null(dram_bytes[row]) : Json());
    rows.push_back(json.take());
  }
  return rows;
}

Json gaps_json(const analysis::Profile& profile, const Facts& facts) {
  Json rows = Json::array();
  for (const analysis::IdleGap& gap : profile.budgets.gaps)
    rows.push_back(gap_json(profile, facts, gap));
  return rows;
}

Json repeated_gaps_json(const analysis::Profile& profile, const Facts& facts) {
  Json rows = Json::array();
  for (const analysis::RepeatedGap& gap : profile.budgets.repeated_gaps) {
    Json longest = gap_json(profile, facts, gap.longest);
    rows.push_back({{"stage", longest["stage"]},
                    {"count", gap.count},
                    {"total_ms", milliseconds(gap.total)},
                    {"longest", std::move(longest)}});
  }
  return rows;
}

Json slow_steps_json(const analysis::Profile& profile, const Facts& facts) {
  const analysis::Stages& stages = profile.stages;
  Json rows = Json::array();
  for (const analysis::SlowStep& slow : profile.budgets.slow_steps) {
    const analysis::Step& step = stages.steps[slow.step.index()];
    Json reasons = Json::array();
    for (const analysis::SlowStep::Reason& reason : slow.reasons) {
      reasons.push_back(
          {{"what", to_printable(reason.what)}, {"longer_ms", milliseconds(reason.longer)}});
    }
    rows.push_back({{"stage", to_printable(stage_of(stages, step.instance))},
                    {"instance", facts.instance_of_stage[step.instance.index()]},
                    {"step", slow.step.index()},
                    {"step_of_instance",
                     slow.step.index() - stages.instances[step.instance.index()].first_step},
                    {"wall_ms", milliseconds(step.wall())},
                    {"above_median_ms", milliseconds(slow.above_median)},
                    {"reasons", std::move(reasons)}});
  }
  return rows;
}

}  // namespace llmprof::report
