#include "analysis/mfu/figures.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/stages/stages.h"
#include "llm/cost.h"

namespace llmprof::analysis {
namespace {

std::span<const Step> steps_of(const Stages& stages, const StageInstance& instance) {
  return std::span(stages.steps).subspan(instance.first_step, instance.step_count);
}

// The tokens that each prefill passed through the layers; empty if any count is unknown.
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

// The batch if all steps except warm-ups agree.
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

void set_batch(const Stages& stages, profile::Workload& workload) {
  const uint64_t batch = batch_of_steps(stages).value_or(0);
  workload.batch = std::max<uint64_t>(batch, 1);
  workload.batch_source = batch > 0 ? "batch of the steps" : profile::kAssumed;
}

void set_prompt(const Stages& stages, profile::Workload& workload) {
  const std::vector<uint64_t> tokens = prefill_tokens(stages);
  if (tokens.empty()) return;
  const uint64_t batch = std::max<uint64_t>(*workload.batch, 1);
  double sum = 0;
  for (const uint64_t count : tokens) sum += static_cast<double>(count);
  const double mean = sum / static_cast<double>(tokens.size()) / static_cast<double>(batch);
  const bool all_equal =
      std::ranges::all_of(tokens, [&](uint64_t count) { return count == tokens.front(); });
  workload.prompt_tokens = static_cast<uint64_t>(std::llround(mean));
  workload.prompt_tokens_source =
      all_equal ? "tokens of the prefill steps" : "mean tokens of the prefill steps";
}

// What is known about the size of one step of a serving engine.
struct SizedStep {
  uint64_t tokens = 0;
  uint64_t positions_with_logits = 0;
  std::optional<llm::MixedPass> sequences;  // with their contexts, if the engine states them
};

// The steps of a stage's instances, without warm-ups.
struct StepsOfStage {
  uint64_t instances = 0;
  uint64_t all = 0;
  uint64_t with_tokens = 0;
  uint64_t with_contexts = 0;
  uint64_t tokens = 0;           // of steps with known tokens
  uint64_t keys = 0;             // contexts of steps with known contexts, including new tokens
  std::vector<SizedStep> steps;  // with known tokens
};

// A detected decode step has one token per sequence. An engine's step, whose annotation counts
// sequences but not tokens, has an unknown number (drafted tokens are verified).
std::optional<uint64_t> tokens_of(const Step& step) {
  if (step.tokens) return step.tokens;
  const bool one_each = step.kind == StepKind::decode && !step.phases.decode.sequences;
  return one_each ? step.batch : std::nullopt;
}

uint64_t positions_with_logits(const Step& step, uint64_t tokens) {
  if (step.kind == StepKind::decode) return tokens;
  return step.batch.value_or(1);
}

StepsOfStage steps_of_stage(const Stages& stages, uint32_t stage) {
  StepsOfStage found;
  for (const StageInstance& instance : stages.instances) {
    if (instance.warmup || instance.stage != stage) continue;
    ++found.instances;
    for (const Step& step : steps_of(stages, instance)) {
      ++found.all;
      const auto tokens = tokens_of(step);
      if (!tokens || *tokens == 0) continue;
      ++found.with_tokens;
      found.tokens += *tokens;
      SizedStep& known = found.steps.emplace_back();
      known.tokens = *tokens;
      known.positions_with_logits = positions_with_logits(step, *tokens);
      known.sequences = step.phases.sums();
      if (!known.sequences) continue;
      ++found.with_contexts;
      found.keys += known.sequences->prefill.keys + known.sequences->decode.keys;
    }
  }
  return found;
}

// Passes computed one by one. A longer loop is divided into this many equal pieces, with one pass
// computed for each.
constexpr uint64_t kMostPasses = 4096;

// Costs of the same model have the same parts in the same order.
void add(llm::PassCost& sum, const llm::PassCost& cost, double times) {
  if (sum.parts.empty()) {
    for (const llm::CostLine& part : cost.parts) {
      sum.parts.push_back({part.name, 0, 0, 0, part.kind});
    }
  }
  for (size_t i = 0; i < sum.parts.size(); ++i) {
    sum.parts[i].flops += times * cost.parts[i].flops;
    sum.parts[i].weight_bytes += times * cost.parts[i].weight_bytes;
    sum.parts[i].kv_bytes += times * cost.parts[i].kv_bytes;
  }
}

// Adds the degrees of parallelism above 1: the cost is one GPU's share of the model.
void add_parallelism(const profile::Workload& workload, FindingValues& values) {
  if (workload.tp > 1) values.add("tp", workload.tp);
  if (workload.pp > 1) values.add("pp", workload.pp);
  if (workload.ep > 1) values.add("ep", workload.ep);
}

llm::Degrees degrees_of(const profile::Workload& workload) {
  return {static_cast<uint32_t>(workload.tp), static_cast<uint32_t>(workload.pp),
          static_cast<uint32_t>(workload.ep)};
}

StageUtilization prefill_cost(const llm::ModelSpec& model, const profile::Workload& workload) {
  StageUtilization result;
  if (!workload.prompt_tokens) {
    result.why_not = {make_reason(ReasonKind::prompt_tokens_unknown)};
    return result;
  }
  llm::ForwardPass pass;
  pass.batch = *workload.batch;
  pass.new_tokens = *workload.prompt_tokens;
  pass.images = workload.images.value_or(0);
  result.cost = llm::pass_cost(model, pass, degrees_of(workload));
  FindingValues values;
  values.add("prompt_tokens", *workload.prompt_tokens, workload.prompt_tokens_source)
      .add("batch", *workload.batch, workload.batch_source);
  if (pass.images > 0) values.add("images", pass.images);
  add_parallelism(workload, values);
  result.basis = {make_reason(ReasonKind::prefill_pass, values)};
  return result;
}

// `steps` passes of one token each, the first after `prompt` tokens. A mean number of steps may
// have a fraction: the last pass then counts for this fraction.
llm::PassCost decode_passes(const llm::ModelSpec& model, const profile::Workload& workload,
                            double steps) {
  llm::PassCost sum;
  const auto whole = static_cast<uint64_t>(std::floor(steps));
  llm::ForwardPass pass;
  pass.batch = *workload.batch;
  const auto add_passes = [&](uint64_t first, double times) {
    pass.context = *workload.prompt_tokens + first;
    add(sum, llm::pass_cost(model, pass, degrees_of(workload)), times);
  };
  const uint64_t stride = std::max<uint64_t>(1, (whole + kMostPasses - 1) / kMostPasses);
  for (uint64_t first = 0; first < whole; first += stride) {
    const uint64_t passes = std::min(stride, whole - first);
    add_passes(first + (passes - 1) / 2, static_cast<double>(passes));
  }
  const double rest = steps - static_cast<double>(whole);
  if (rest > 0) add_passes(whole, rest);
  return sum;
}

StageUtilization decode_cost(const llm::ModelSpec& model, const profile::Workload& workload,
                             std::optional<double> steps) {
  StageUtilization result;
  const bool counted_steps = steps.has_value();
  if (!steps && workload.new_tokens) steps = static_cast<double>(*workload.new_tokens);
  if (!workload.prompt_tokens || !steps || *steps <= 0) {
    result.why_not = {make_reason(!workload.prompt_tokens ? ReasonKind::prompt_tokens_unknown
                                                          : ReasonKind::decode_steps_unknown)};
    return result;
  }
  result.cost = decode_passes(model, workload, *steps);
  const uint64_t first = *workload.prompt_tokens;
  const auto last = first + static_cast<uint64_t>(std::ceil(*steps)) - 1;
  FindingValues values;
  values.add("steps", *steps, counted_steps ? std::nullopt : workload.new_tokens_source)
      .add("first_context", first)
      .add("last_context", last)
      .add("prompt_tokens", *workload.prompt_tokens, workload.prompt_tokens_source)
      .add("batch", *workload.batch, workload.batch_source);
  // Prefill may produce the first new token.
  if (counted_steps && workload.new_tokens &&
      std::abs(static_cast<double>(*workload.new_tokens) - *steps) > 1) {
    values.add("other_new_tokens", *workload.new_tokens, workload.new_tokens_source);
  }
  add_parallelism(workload, values);
  result.basis = {make_reason(ReasonKind::decode_passes, values)};
  return result;
}

// An engine step: tokens of several sequences with unknown contexts.
llm::PassCost step_without_attention(const llm::ModelSpec& model, uint64_t tokens,
                                     uint64_t sequences, const llm::Degrees& degrees) {
  llm::ForwardPass pass;
  pass.new_tokens = tokens;
  pass.positions_with_logits = sequences;
  llm::PassCost cost = llm::pass_cost(model, pass, degrees);
  // Attention is the only part that uses the cache.
  std::erase_if(cost.parts, [](const llm::CostLine& part) { return part.kv_bytes > 0; });
  return cost;
}

bool has_window(const llm::ModelSpec& model) {
  return std::ranges::any_of(model.layers, [](const llm::LayerSpec& layer) {
    return layer.attention != llm::AttentionKind::full && layer.window > 0;
  });
}

StageUtilization serving_cost(const Stages& stages, uint32_t stage, const llm::ModelSpec& model,
                              const profile::Workload& workload) {
  StageUtilization result;
  const StepsOfStage steps = steps_of_stage(stages, stage);
  if (steps.all == 0 || steps.with_tokens < steps.all) {
    result.whole_cost = false;
    FindingValues values;
    values.add("known_steps", steps.with_tokens).add("steps", steps.all);
    result.why_not = {make_reason(ReasonKind::step_tokens_unknown, values)};
    return result;
  }
  result.whole_cost = steps.with_contexts == steps.all;
  llm::PassCost sum;
  const llm::Degrees degrees = degrees_of(workload);
  for (const SizedStep& step : steps.steps) {
    add(sum,
        result.whole_cost
            ? llm::mixed_pass_cost(model, *step.sequences, degrees)
            : step_without_attention(model, step.tokens, step.positions_with_logits, degrees),
        1);
  }
  add(result.cost, sum, 1 / static_cast<double>(steps.instances));
  const auto mean = [&](uint64_t of_all) {
    return static_cast<double>(of_all) / static_cast<double>(steps.all);
  };
  FindingValues values;
  values.add("steps", steps.all).add("tokens_per_step", mean(steps.tokens));
  if (result.whole_cost) {
    values.add("contexts_per_step", mean(steps.keys));
    if (has_window(model)) values.add("attention_window", true);
  } else if (steps.with_contexts > 0) {
    values.add("steps_without_contexts", steps.all - steps.with_contexts);
  }
  add_parallelism(workload, values);
  result.basis = {make_reason(
      result.whole_cost ? ReasonKind::engine_steps_in_context : ReasonKind::engine_steps, values)};
  return result;
}

}  // namespace

StageUtilization stage_cost(const Stages& stages, uint32_t stage, const llm::ModelSpec& model,
                            const profile::Workload& workload) {
  const Stage& what = stages.stages[stage];
  StageUtilization result;
  if (stages.serving) {
    result = serving_cost(stages, stage, model, workload);
  } else if (is_prefill(what)) {
    result = prefill_cost(model, workload);
  } else if (is_decode(what)) {
    result = decode_cost(model, workload, mean_steps(stages, stage));
  } else {
    result.why_not = {
        make_reason(ReasonKind::no_cost_formula, FindingValues().add("stage", what.name))};
  }
  result.stage = stage;
  return result;
}

bool is_prefill(const Stage& stage) { return stage.name == profile::kPrefill; }
bool is_decode(const Stage& stage) { return stage.name == profile::kDecode; }

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

profile::Workload complete_workload(const Stages& stages, profile::Workload workload) {
  if (stages.serving) return workload;
  if (!workload.batch) set_batch(stages, workload);
  if (!workload.prompt_tokens) set_prompt(stages, workload);
  for (uint32_t i = 0; !workload.new_tokens && i < stages.stages.size(); ++i) {
    if (!is_decode(stages.stages[i])) continue;
    if (const auto steps = mean_steps(stages, i)) {
      workload.new_tokens = static_cast<uint64_t>(std::llround(*steps));
      workload.new_tokens_source = "number of decode steps";
    }
  }
  return workload;
}

}  // namespace llmprof::analysis
