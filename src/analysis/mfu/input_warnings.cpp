#include "analysis/mfu/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"

namespace llmprof::analysis {
namespace {

size_t gpus_in(const Stages& stages) {
  std::set<uint32_t> seen;
  for (const StageInstance& instance : stages.instances) {
    if (instance.device.valid()) seen.insert(instance.device.value);
  }
  return seen.size();
}

// The other GPUs of a job are in the captures of its other ranks.
void check_spread(const Stages& stages, const Workload& workload,
                  std::vector<InputWarning>& warnings) {
  const llm::Parallelism& parallel = workload.parallel;
  const size_t gpus = gpus_in(stages);
  std::string larger;
  const auto check = [&](std::string_view name, uint32_t said) {
    if (gpus == 0 || said <= std::max<size_t>(gpus, workload.ranks)) return;
    larger += fmt::format("{}{} {}", larger.empty() ? "" : ", ", name, said);
  };
  check("tp", parallel.tp);
  check("pp", parallel.pp);
  check("ep", parallel.ep);
  if (larger.empty()) return;
  warnings.push_back(
      {"spread_over_more_gpus",
       fmt::format("{}, but the capture shows {}: utilization is that of one GPU's share of the "
                   "model; omit the option unless other ranks were not captured",
                   larger, counted(gpus, "GPU"))});
}

void check_heads(const llm::ModelSpec& model, const llm::Parallelism& parallel,
                 std::vector<InputWarning>& warnings) {
  const auto check = [&](std::string_view what, uint32_t heads) {
    if (heads == 0 || parallel.tp <= 1 || heads % parallel.tp == 0) return;
    warnings.push_back({"heads_not_divisible",
                        fmt::format("tp {} does not divide the model's {} {}: some GPUs hold more "
                                    "of them than others, or copies; the share is an average",
                                    parallel.tp, heads, what)});
  };
  check("attention heads", model.heads);
  if (model.kv_heads != model.heads) check("KV heads", model.kv_heads);
}

// The first new token may be the prefill's.
void check_new_tokens(const Stages& stages, const Workload& workload,
                      std::vector<InputWarning>& warnings) {
  if (stages.serving || !workload.new_tokens) return;
  for (uint32_t i = 0; i < stages.stages.size(); ++i) {
    const auto steps = mean_steps(stages, i);
    if (!is_decode(stages.stages[i]) || !steps) continue;
    if (std::abs(static_cast<double>(workload.new_tokens->value) - *steps) <= 1) continue;
    warnings.push_back(
        {"new_tokens_contradict_steps",
         fmt::format("{} says {} new {}, but a decode has {:.4g} {}; the steps are used",
                     workload.new_tokens->source, workload.new_tokens->value,
                     plural_of(workload.new_tokens->value, "token"), *steps,
                     plural_of(*steps == 1 ? 1 : 2, "step"))});
  }
}

}  // namespace

void warn_of_recorded(const Stages& stages, Utilization& use) {
  constexpr double kAgree = 0.05;
  for (const StageUtilization& stage : use.stages) {
    if (stage.from_operators || !stage.recorded || stage.recorded->flops <= 0) continue;
    const double model = stage.cost.flops();
    const double times = stage.recorded->flops / model;
    if (model <= 0 || std::abs(times - 1) <= kAgree) continue;
    use.warnings.push_back(
        {"recorded_flops_differ",
         fmt::format(
             "{}: its operators recorded {:.4g} FLOPs per instance, {:.2f} times the {:.4g} "
             "of the model: check the model, the token counts, and what the program records",
             stages.stages[stage.stage].name, stage.recorded->flops, times, model)});
  }
}

std::vector<InputWarning> input_warnings(const Stages& stages, const llm::ModelSpec& model,
                                         const Workload& workload, const std::string& gpu_wanted,
                                         const std::string& gpu_captured) {
  std::vector<InputWarning> warnings;
  if (!gpu_captured.empty()) {
    warnings.push_back({"gpu_contradicts_capture",
                        fmt::format("--gpu {}, but the capture was made on {}: the peaks are those "
                                    "of --gpu",
                                    gpu_wanted, gpu_captured)});
  }
  check_spread(stages, workload, warnings);
  check_heads(model, workload.parallel, warnings);
  check_new_tokens(stages, workload, warnings);
  return warnings;
}

}  // namespace llmprof::analysis
