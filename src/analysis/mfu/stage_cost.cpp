#include "analysis/mfu/stage_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/mfu/told_steps_of_stage.h"
#include "analysis/mfu/workload_tokens.h"

namespace llmprof::analysis {
namespace {

// Passes computed one by one; of longer loops, one in each of so many equal pieces.
constexpr uint64_t kMostPasses = 4096;

// Costs of the same model have the same parts in the same order.
void add(llm::PassCost& sum, const llm::PassCost& cost, double times) {
  if (sum.parts.empty()) {
    for (const llm::CostPart& part : cost.parts) sum.parts.push_back({part.name, 0, 0, 0});
  }
  for (size_t i = 0; i < sum.parts.size(); ++i) {
    sum.parts[i].flops += times * cost.parts[i].flops;
    sum.parts[i].weight_bytes += times * cost.parts[i].weight_bytes;
    sum.parts[i].kv_bytes += times * cost.parts[i].kv_bytes;
  }
}

std::string counted(uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string share_in_words(const llm::Parallelism& parallel) {
  if (uint64_t{parallel.tp} * parallel.pp * parallel.ep <= 1) return {};
  std::string words = "; one GPU's share of";
  if (parallel.tp > 1) words += fmt::format(" tp {}", parallel.tp);
  if (parallel.pp > 1) words += fmt::format(" pp {}", parallel.pp);
  if (parallel.ep > 1) words += fmt::format(" ep {}", parallel.ep);
  return words;
}

std::string batch_in_words(const TokenCount& batch) {
  return fmt::format("batch {} ({})", batch.value, batch.source);
}

std::string steps_in_words(double steps) {
  if (steps != std::floor(steps)) return fmt::format("{:.1f} steps on average", steps);
  return counted(static_cast<uint64_t>(steps), "step");
}

constexpr std::string_view kNoPrompt =
    "the number of prompt tokens is not known; give it with --prompt-tokens";

StageCost prefill_cost(const llm::ModelSpec& model, const Workload& workload) {
  StageCost result;
  if (!workload.prompt_tokens) {
    result.why_not = kNoPrompt;
    return result;
  }
  llm::ForwardPass pass;
  pass.batch = workload.batch->value;
  pass.new_tokens = workload.prompt_tokens->value;
  pass.images = workload.images;
  result.cost = llm::pass_cost(model, pass, workload.parallel);
  result.basis = fmt::format("1 pass of {} ({}), {}", counted(pass.new_tokens, "prompt token"),
                             workload.prompt_tokens->source, batch_in_words(*workload.batch));
  if (pass.images > 0) result.basis += ", " + counted(pass.images, "image");
  result.basis += share_in_words(workload.parallel);
  return result;
}

// `steps` passes of one token each, the first behind `prompt` tokens. A mean number of steps need
// not be whole: the last pass then counts by its fraction.
llm::PassCost decode_passes(const llm::ModelSpec& model, const Workload& workload, double steps) {
  llm::PassCost sum;
  const auto whole = static_cast<uint64_t>(std::floor(steps));
  llm::ForwardPass pass;
  pass.batch = workload.batch->value;
  const auto add_passes = [&](uint64_t first, double times) {
    pass.context = workload.prompt_tokens->value + first;
    add(sum, llm::pass_cost(model, pass, workload.parallel), times);
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

StageCost decode_cost(const llm::ModelSpec& model, const Workload& workload,
                      std::optional<double> steps) {
  StageCost result;
  const bool counted_steps = steps.has_value();
  if (!steps && workload.new_tokens) steps = static_cast<double>(workload.new_tokens->value);
  if (!workload.prompt_tokens || !steps || *steps <= 0) {
    result.why_not = !workload.prompt_tokens
                         ? std::string(kNoPrompt)
                         : "the number of decode steps is not known; give it with --new-tokens";
    return result;
  }
  result.cost = decode_passes(model, workload, *steps);
  const uint64_t first = workload.prompt_tokens->value;
  const auto last = first + static_cast<uint64_t>(std::ceil(*steps)) - 1;
  const std::string source = counted_steps ? "" : fmt::format(" ({})", workload.new_tokens->source);
  result.basis = fmt::format("{}{} of 1 token at a context of {} to {} (prompt: {}), {}",
                             steps_in_words(*steps), source, first, last,
                             workload.prompt_tokens->source, batch_in_words(*workload.batch));
  // The first new token may be the prefill's.
  if (counted_steps && workload.new_tokens &&
      std::abs(static_cast<double>(workload.new_tokens->value) - *steps) > 1) {
    result.basis += fmt::format("; {} says {} new tokens", workload.new_tokens->source,
                                workload.new_tokens->value);
  }
  result.basis += share_in_words(workload.parallel);
  return result;
}

// A step of an engine: tokens of several sequences, whose contexts are not known.
llm::PassCost step_without_attention(const llm::ModelSpec& model, uint64_t tokens,
                                     uint64_t sequences, const llm::Parallelism& parallel) {
  llm::ForwardPass pass;
  pass.new_tokens = tokens;
  pass.positions_with_logits = sequences;
  llm::PassCost cost = llm::pass_cost(model, pass, parallel);
  // Attention itself is the part that has to do with the cache.
  std::erase_if(cost.parts, [](const llm::CostPart& part) { return part.kv_bytes > 0; });
  return cost;
}

bool has_window(const llm::ModelSpec& model) {
  return std::any_of(model.layers.begin(), model.layers.end(), [](const llm::LayerSpec& layer) {
    return layer.attention != llm::AttentionKind::full && layer.window > 0;
  });
}

StageCost serving_cost(const Stages& stages, uint32_t stage, const llm::ModelSpec& model,
                       const Workload& workload) {
  StageCost result;
  const StepsOfStage steps = steps_of_stage(stages, stage);
  if (steps.all == 0 || steps.with_tokens < steps.all) {
    result.whole = false;
    result.why_not = fmt::format(
        "the number of tokens is known for {} of {} steps; the engine's step annotations hold "
        "it",
        steps.with_tokens, steps.all);
    return result;
  }
  result.whole = steps.with_contexts == steps.all;
  llm::PassCost sum;
  for (const ToldStep& step : steps.steps) {
    add(sum,
        result.whole ? llm::mixed_pass_cost(model, *step.sequences, workload.parallel)
                     : step_without_attention(model, step.tokens, step.positions_with_logits,
                                              workload.parallel),
        1);
  }
  add(result.cost, sum, 1 / static_cast<double>(steps.instances));
  const auto mean = [&](double of_all) { return of_all / static_cast<double>(steps.all); };
  result.basis = fmt::format("{} of {:.1f} tokens on average", counted(steps.all, "step"),
                             mean(static_cast<double>(steps.tokens)));
  if (result.whole) {
    result.basis += fmt::format(", at contexts of {:.1f} tokens in total",
                                mean(static_cast<double>(steps.keys)));
    if (has_window(model)) {
      result.basis += "; layers with an attention window are calculated at the mean context";
    }
  } else {
    result.basis += fmt::format(
        "; attention and the KV cache are left out, because the contexts are not known{}",
        steps.with_contexts == 0 ? "" : " of " + counted(steps.all - steps.with_contexts, "step"));
  }
  result.basis += share_in_words(workload.parallel);
  return result;
}

}  // namespace

StageCost stage_cost(const Stages& stages, uint32_t stage, const llm::ModelSpec& model,
                     const Workload& workload) {
  if (stages.serving) return serving_cost(stages, stage, model, workload);
  const Stage& what = stages.stages[stage];
  if (is_prefill(what)) return prefill_cost(model, workload);
  if (is_decode(what)) return decode_cost(model, workload, mean_steps(stages, stage));
  StageCost none;
  none.why_not = fmt::format(
      "there is no cost formula for the stage '{}', only for prefill and decode", what.name);
  return none;
}

}  // namespace llmprof::analysis
