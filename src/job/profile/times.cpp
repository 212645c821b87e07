#include <algorithm>

#include "analysis/requests/served_requests.h"
#include "analysis/stages/measure_stages.h"
#include "analysis/statistics/statistics.h"
#include "base/units.h"
#include "job/profile/amounts.h"
#include "job/profile/parts.h"

namespace llmprof::job::result {
namespace {

using profile::to_milliseconds;

// Adds up tokens and sequences of all ranks that have tokens of their own.
void add_tokens(const std::vector<profile::Step>& own, const std::vector<size_t>& owners,
                const JobStep& from, profile::Step& to) {
  using profile::Step;
  for (const auto count : {&Step::batch, &Step::tokens, &Step::prefill_sequences,
                           &Step::prefill_tokens, &Step::decode_sequences, &Step::decode_tokens,
                           &Step::context_tokens, &Step::attention_pairs}) {
    uint64_t total = 0;
    const bool all_known = std::ranges::all_of(owners, [&](size_t part) {
      const bool is_known = from.row[part] != kNoRow && own[part].*count;
      if (is_known) total += *(own[part].*count);
      return is_known;
    });
    if (all_known) to.*count = total;
  }
}

// Means over the ranks that have the step.
void add_work(const std::vector<profile::Step>& steps, const JobStep& from, profile::Step& to) {
  Nanoseconds gpu_sum = 0;
  Nanoseconds gpu_busy = 0;
  uint64_t kernels = 0;
  size_t count = 0;
  NamedTimes<profile::KernelClass> classes;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (from.row[i] == kNoRow) continue;
    const profile::Step& own = steps[i];
    ++count;
    gpu_sum += exact(own.gpu_sum);
    gpu_busy += exact(own.gpu_busy);
    kernels += own.kernel_count;
    classes.add(own.classes);
    if (!to.layers) to.layers = own.layers;
    if (own.clocks_lowered) {
      to.clocks_lowered = to.clocks_lowered.value_or(false) || *own.clocks_lowered;
    }
  }
  if (count == 0) return;
  to.gpu_sum = to_milliseconds(gpu_sum / static_cast<Nanoseconds>(count));
  to.gpu_busy = to_milliseconds(gpu_busy / static_cast<Nanoseconds>(count));
  to.kernel_count = (kernels + count / 2) / count;
  to.classes = classes.mean(count);
}

// An engine's step gives each of its sequences one token.
analysis::TokenWalls walls_of_steps(const Ranks& ranks, const profile::Profile& profile) {
  analysis::TokenWalls walls;
  for (size_t i = 0; i < ranks.comparison.steps.size(); ++i) {
    const JobStep& step = ranks.comparison.steps[i];
    if (step.kind != profile::StepKind::decode || step.warmup || step.after_untraced) continue;
    walls.per_token.push_back(step.end - step.start);
    if (const auto& batch = profile.steps[i].batch) {
      walls.by_batch[*batch].push_back(step.end - step.start);
    }
  }
  return walls;
}

// Requests that run one after another.
analysis::TokenWalls walls_of_requests(const profile::Profile& profile) {
  analysis::TokenWalls walls;
  for (const profile::Stage& stage : profile.stages) {
    for (const profile::Instance& instance : stage.instances) {
      if (instance.warmup) continue;
      if (stage.name == profile::kPrefill) walls.first_token.push_back(exact(instance.wall));
      const auto steps = static_cast<Nanoseconds>(instance.steps + instance.untraced_steps);
      if (stage.name == profile::kDecode && steps > 0) {
        walls.per_token.push_back((exact(instance.wall) + steps / 2) / steps);
      }
    }
  }
  return walls;
}

// Mean prefill plus mean decode.
std::optional<profile::Milliseconds> mean_request(const profile::Profile& profile) {
  std::optional<double> prefill;
  std::optional<double> decode;
  for (const profile::Stage& stage : profile.stages) {
    const auto mean = stage.wall.mean;
    if (stage.name == profile::kPrefill && mean) prefill = mean->value;
    if (stage.name == profile::kDecode && mean) decode = mean->value;
  }
  const bool whole = !profile.selection || !profile.selection->steps;
  if (!whole || !prefill || !decode) return std::nullopt;
  return profile::Milliseconds{*prefill + *decode};
}

}  // namespace

std::vector<profile::Step> job_steps(const Ranks& ranks) {
  const std::vector<size_t> owners = token_owners(ranks);
  std::vector<profile::Step> steps;
  std::vector<profile::Step> own(ranks.parts.size());  // by part
  steps.reserve(ranks.comparison.steps.size());
  for (const JobStep& from : ranks.comparison.steps) {
    profile::Step& to = steps.emplace_back();
    to.stage = from.stage;
    to.instance = from.instance;
    to.step_of_instance = from.step_of_instance;
    to.kind = from.kind;
    to.start = to_milliseconds(from.start);
    to.wall = to_milliseconds(from.end - from.start);
    to.after_untraced = from.after_untraced;
    for (size_t i = 0; i < own.size(); ++i) {
      if (from.row[i] != kNoRow) own[i] = ranks.parts[i].steps[from.row[i]];
    }
    add_tokens(own, owners, from, to);
    add_work(own, from, to);
  }
  return steps;
}

void merge(Topic<"token times"> /*topic*/, const Ranks& ranks, profile::Profile& profile) {
  profile::TokenTimes& made = profile.token_times;
  if (profile.stages_found.serving.value_or(false)) {
    made = analysis::token_times(walls_of_steps(ranks, profile));
  } else {
    made = analysis::token_times(walls_of_requests(profile));
    made.request = mean_request(profile);
  }
  const auto& per_token = made.time_per_output_token;
  if (per_token && per_token->mean && per_token->mean->value > 0) {
    const double per_sequence = kMillisecondsPerSecond / per_token->mean->value;
    made.tokens_per_s_per_sequence = profile::TokensPerSecond{per_sequence};
    if (const auto& batch = profile.workload.batch) {
      const auto sequences = static_cast<double>(*batch * token_owners(ranks).size());
      made.tokens_per_s = profile::TokensPerSecond{per_sequence * sequences};
    }
  }
  made.served = analysis::served_or_estimated(profile.requests, {});
  double wall = 0;
  double busy = 0;
  for (const profile::Stage& stage : profile.stages) {
    const auto count = static_cast<double>(stage.wall.count);
    if (count == 0) continue;
    wall += stage.wall.mean->value * count;
    busy += stage.gpu_busy.mean->value * count;
    if (stage.tracing && stage.tracing->not_traced) {
      wall -= stage.tracing->not_traced->value * count;
    }
  }
  made.gpu_busy_share_of_wall = analysis::share(busy, wall);
}

std::optional<profile::UntracedTimes> untraced_of_job(const std::vector<const profile::Stage*>& own,
                                                      const profile::Stage& stage) {
  const profile::UntracedTimes* timed = nullptr;
  for (const profile::Stage* rank : own) {
    if (rank == nullptr) continue;
    if (!rank->untraced || rank->untraced->source != profile::UntracedSource::workload_clock)
      return std::nullopt;
    if (timed == nullptr) timed = &*rank->untraced;
  }
  const bool measured = stage.wall.mean && stage.wall.mean->value > 0 && stage.idle && stage.budget;
  if (timed == nullptr || !measured || timed->wall.value <= 0 || stage.tracing) return std::nullopt;
  const double recorded = stage.wall.mean->value;
  const double idle = stage.idle->value;
  const double busy = recorded - idle;
  profile::UntracedTimes made;
  made.source = timed->source;
  made.wall = timed->wall;
  made.per_step = timed->per_step;
  made.added = {recorded - made.wall.value};
  made.added_share = {made.added.value / made.wall.value};
  made.busy = {std::min(busy, made.wall.value)};
  made.idle = {made.wall.value - made.busy.value};
  made.idle_share = {made.idle.value / made.wall.value};
  made.busy_scaled = busy > made.wall.value;
  made.passes_timed = timed->passes_timed;
  made.instances_timed = timed->instances_timed;
  made.steps_recorded = stage.step_count;
  made.steps_all = std::max(stage.step_count, timed->steps_all);
  const double of_busy = busy > 0 ? made.busy.value / busy : 0;
  const double of_idle = idle > 0 ? made.idle.value / idle : 0;
  const double steps = made.per_step ? made.wall.value / made.per_step->value : 0;
  for (const profile::BudgetPart& part : *stage.budget) {
    profile::UntracedPart row;
    row.part = part.part;
    row.idle = part.idle;
    row.time = {part.time.value * (part.idle ? of_idle : of_busy)};
    if (row.time.value <= 0) continue;
    row.share = {row.time.value / made.wall.value};
    if (steps > 0) row.per_step = profile::Milliseconds{row.time.value / steps};
    made.budget.push_back(row);
  }
  std::ranges::stable_sort(made.budget, std::greater{}, &profile::UntracedPart::time);
  return made;
}

}  // namespace llmprof::job::result
