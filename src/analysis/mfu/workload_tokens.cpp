#include "analysis/mfu/figures.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace llmprof::analysis {
namespace {

std::span<const Step> steps_of(const Stages& stages, const StageInstance& instance) {
  return std::span(stages.steps).subspan(instance.first_step, instance.step_count);
}

// The tokens that each prefill passed through the layers; empty where any of them is not known.
std::vector<uint64_t> prefill_tokens(const Stages& stages) {
  std::vector<uint64_t> all;
  for (const StageInstance& instance : stages.instances) {
    if (instance.warmup || !is_prefill(stages.stages[instance.stage])) continue;
    uint64_t tokens = 0;
    for (const Step& step : steps_of(stages, instance)) {
      if (!step.tokens) return {};
      tokens += *step.tokens;
    }
    if (tokens == 0) return {};
    all.push_back(tokens);
  }
  return all;
}

// Where all steps that are no warm-up agree.
std::optional<uint64_t> batch_of_steps(const Stages& stages) {
  std::optional<uint64_t> batch;
  for (const StageInstance& instance : stages.instances) {
    if (instance.warmup) continue;
    for (const Step& step : steps_of(stages, instance)) {
      if (!step.batch || (batch && *batch != *step.batch)) return std::nullopt;
      batch = step.batch;
    }
  }
  return batch;
}

TokenCount batch_or_one(const Stages& stages) {
  if (const auto batch = batch_of_steps(stages); batch && *batch > 0) {
    return {*batch, "batch of the steps"};
  }
  return {1, "assumed"};
}

std::optional<TokenCount> prompt_of_prefills(const Stages& stages, uint64_t batch) {
  const std::vector<uint64_t> tokens = prefill_tokens(stages);
  if (tokens.empty()) return std::nullopt;
  double sum = 0;
  for (const uint64_t count : tokens) sum += static_cast<double>(count);
  const double mean = sum / static_cast<double>(tokens.size()) / static_cast<double>(batch);
  const bool all_equal = std::all_of(tokens.begin(), tokens.end(),
                                     [&](uint64_t count) { return count == tokens.front(); });
  return TokenCount{static_cast<uint64_t>(std::llround(mean)),
                    all_equal ? "tokens of the prefill steps" : "mean tokens of the prefill steps"};
}

}  // namespace

bool is_prefill(const Stage& stage) { return stage.name == "prefill"; }
bool is_decode(const Stage& stage) { return stage.name == "decode"; }

std::optional<double> mean_steps(const Stages& stages, uint32_t stage) {
  double steps = 0;
  double instances = 0;
  for (const StageInstance& instance : stages.instances) {
    if (instance.warmup || instance.stage != stage) continue;
    steps += instance.all_steps();
    ++instances;
  }
  if (steps == 0) return std::nullopt;
  return steps / instances;
}

Workload complete_workload(const Stages& stages, Workload workload) {
  if (stages.serving) return workload;
  if (!workload.batch) workload.batch = batch_or_one(stages);
  const uint64_t batch = std::max<uint64_t>(workload.batch->value, 1);
  if (!workload.prompt_tokens) workload.prompt_tokens = prompt_of_prefills(stages, batch);
  for (uint32_t i = 0; !workload.new_tokens && i < stages.stages.size(); ++i) {
    if (!is_decode(stages.stages[i])) continue;
    if (const auto steps = mean_steps(stages, i)) {
      workload.new_tokens =
          TokenCount{static_cast<uint64_t>(std::llround(*steps)), "number of decode steps"};
    }
  }
  return workload;
}

void add_count(std::string_view name, const TokenCount& count, profile::FindingValues& values) {
  values.add_number(name, static_cast<double>(count.value), count.source);
}

}  // namespace llmprof::analysis
