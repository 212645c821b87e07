#include "analysis/requests/explain_requests.h"

#include <algorithm>
#include <cmath>

#include "analysis/requests/batch_rows.h"
#include "analysis/requests/causes.h"
#include "analysis/requests/engine_statements.h"
#include "analysis/requests/request_delays.h"
#include "analysis/requests/request_tails.h"
#include "analysis/requests/request_times.h"
#include "analysis/requests/slowest_gaps.h"
#include "analysis/requests/steps_by_size.h"

namespace llmprof::analysis {
namespace {

using profile::JoinState;

// By batch: whether batches or passes right before it, or within it, were not recorded.
std::vector<bool> breaks_of(const EngineBatches& engine, const Stages& stages) {
  constexpr Nanoseconds kLongAgo = INT64_MIN / 2;
  std::vector<bool> breaks;
  const auto& [process, device] = engine.gpu;
  const EngineBatch* before = nullptr;
  for (const EngineBatch& batch : engine.batches) {
    const Nanoseconds from = before == nullptr ? kLongAgo : before->end.results_read;
    const bool other_window = before != nullptr && before->window != batch.window;
    const bool untraced =
        from < batch.begin && !stages.untraced.within(process, device, from, batch.begin).empty();
    breaks.push_back(batch.after_untraced || other_window || untraced);
    before = &batch;
  }
  return breaks;
}

std::vector<JoinBatch> join_batches(const EngineBatches& engine, const std::vector<bool>& breaks) {
  std::vector<JoinBatch> batches;
  for (size_t row = 0; row < engine.batches.size(); ++row) {
    const EngineBatch& batch = engine.batches[row];
    const auto passes = engine.passes_of(batch);
    const bool prompts = std::ranges::any_of(passes, &BatchPass::takes_prompts);
    const bool decodes = std::ranges::any_of(
        passes, [](const BatchPass& pass) { return pass.kind != StepKind::prefill; });
    // Its first passes may not have been recorded.
    const auto rows = breaks[row] ? std::nullopt : engine.rows_of(batch);
    batches.push_back({batch.end.results_read, rows, prompts, breaks[row], decodes});
  }
  return batches;
}

std::vector<PassFacts> facts_of(const EngineBatches& engine, const EngineWork& work) {
  std::vector<PassFacts> facts;
  for (const BatchPass& pass : engine.passes) {
    PassFacts& of = facts.emplace_back();
    if (pass.step < work.counters.step_slowed.size()) {
      of.slowed = work.counters.step_slowed[pass.step].value_or(false);
    }
    const InstanceId instance = work.stages.steps[pass.step].instance;
    if (instance.index() >= work.budgets.instances.size()) continue;
    const uint32_t steps = work.stages.instances[instance.index()].step_count;
    const PartTimes& parts = work.budgets.instances[instance.index()];
    of.communication =
        parts[static_cast<size_t>(BudgetPart::exposed_communication)] / std::max(steps, 1U);
  }
  return facts;
}

// The least time of a decode batch by the model's weights and caches.
DecodeFloor floor_of(const UseOfPeaks& use) {
  const auto stage = std::ranges::find_if(use.stages, [](const StageUtilization& of) {
    return of.peak_flops > 0 && of.peak_bandwidth > 0;
  });
  if (!use.model || stage == use.stages.end()) return [](uint64_t, double) { return std::nullopt; };
  const auto degree = [](uint64_t of) { return static_cast<uint32_t>(std::max<uint64_t>(of, 1)); };
  const llm::Degrees degrees{degree(use.workload.tp), degree(use.workload.pp),
                             degree(use.workload.ep)};
  return [&use, stage, degrees](uint64_t rows, double context) {
    const auto keys = static_cast<uint64_t>(context) + rows;
    const llm::MixedPass pass{{}, {rows, rows, keys, rows, keys}};
    const llm::PassCost cost = llm::mixed_pass_cost(*use.model, pass, degrees);
    const double seconds =
        std::max(cost.flops() / stage->peak_flops, cost.bytes() / stage->peak_bandwidth);
    return std::optional<Nanoseconds>(std::llround(seconds * kNanosecondsPerSecond));
  };
}

// The largest part of a gap between chunks, unless it is own decode.
void add_wait(const RequestInterval& interval, uint32_t chunks, profile::Request& item) {
  if (interval.chunk == 0 || interval.chunk >= chunks) return;
  const auto largest = std::ranges::max_element(interval.parts) - interval.parts.begin();
  const auto part = static_cast<RequestPart>(largest);
  if (part != RequestPart::own_decode) item.waits.push_back({interval.chunk, part});
}

class Explanation {
 public:
  Explanation(const trace::Trace& trace, const EngineWork& work, const ClientRequests& requests,
              const ClientTokens& client, profile::Requests& into)
      : trace_(trace),
        requests_(requests),
        work_(work),
        client_(client),
        into_(into),
        engine_(engine_batches(trace, work.stages)),
        breaks_(breaks_of(engine_, work.stages)),
        join_(join_tokens(join_batches(engine_, breaks_), client.requests, client.chunks,
                          work.stages.speculative)),
        prompts_(joined_prompts(client, join_, engine_)),
        parts_(parts_of(prompts_)) {
    prompts_ = held_prompts(prompts_, parts_);
    parts_ = parts_of(prompts_);
    rows_ = count_rows(engine_, client, join_, parts_, prompts_);
  }

  void run() {
    compare_with_engine();
    count_tokens();
    const auto contexts = contexts_of_batches(client_, join_, engine_.batches.size());
    add_batches(contexts);
    into_.steps_by_size =
        steps_by_size(engine_, breaks_, rows_.first, rows_.behind, contexts, floor_of(work_.use));
    if (into_.join.state != JoinState::joined) return;
    const auto facts = facts_of(engine_, work_);
    const EngineTime time = engine_time(engine_, facts, parts_, breaks_);
    add_estimates(time);
    add_items();
    add_causes(Causes(engine_, time, join_, client_.requests, client_.chunks, prompts_, parts_));
  }

 private:
  [[nodiscard]] std::vector<PromptPart> parts_of(const std::vector<Prompt>& prompts) const {
    return prompt_parts(engine_, prompts,
                        decode_tokens(client_, join_, prompts, engine_.batches.size()));
  }

  void count_tokens() {
    profile::RequestJoin& join = into_.join;
    for (uint32_t request = 0; request < client_.size(); ++request) {
      if (!client_.counted[request]) continue;
      const TokenRequest& of = client_.requests[request];
      for (uint32_t chunk = of.first_chunk; chunk < of.first_chunk + of.chunks; ++chunk) {
        const uint64_t tokens = client_.chunks[chunk].tokens;
        if (join_.state[chunk] == ChunkState::outside) {
          join.tokens_outside += tokens;
          continue;
        }
        join.tokens += tokens;
        if (client_.miscounted[request]) {
          join.tokens_miscounted += tokens;
          continue;
        }
        if (join_.joined(chunk)) join.tokens_joined += tokens;
        if (join_.state[chunk] == ChunkState::ambiguous) join.tokens_ambiguous += tokens;
      }
    }
    join.rows = rows_.rows;
    join.rows_joined = rows_.joined;
    join.rows_named = rows_.named;
    join.coverage = share(join.tokens_joined, join.tokens);
    join.coverage_of_rows = share(join.rows_joined + join.rows_named, join.rows);
    const auto enough = [](uint64_t part, uint64_t whole) {
      return whole > 0 && !is_too_much(whole - part, whole);
    };
    if (join.tokens == 0) {
      join.state = JoinState::outside_of_capture;
    } else if (!enough(join.tokens_joined, join.tokens) ||
               !enough(join.rows_joined + join.rows_named, join.rows) || is_contradicted()) {
      join.state = JoinState::low_coverage;
    } else {
      join.state = JoinState::joined;
      join.delivery = times(summarize(join_.delays));
    }
  }

  void compare_with_engine() {
    const Confirmation found =
        engine_statements(trace_, requests_, client_, engine_, join_, parts_);
    if (!found.is_known()) return;
    into_.join.confirmed = found.confirmed;
    into_.join.contradicted = found.contradicted;
  }
  [[nodiscard]] bool is_contradicted() const {
    const profile::RequestJoin& join = into_.join;
    return join.confirmed && is_too_much(*join.contradicted, *join.confirmed + *join.contradicted);
  }

  void add_batches(std::span<const std::optional<uint64_t>> contexts) {
    std::vector<uint64_t> prompt_tokens(engine_.batches.size(), 0);
    for (const PromptPart& part : parts_) prompt_tokens[part.batch] += part.tokens;
    for (uint32_t row = rows_.first; row < rows_.behind; ++row) {
      const EngineBatch& from = engine_.batches[row];
      const auto passes = engine_.passes_of(from);
      const uint64_t joined = rows_.joined_by_batch[row];
      profile::RequestBatch& batch = into_.batches.emplace_back();
      batch.start = to_milliseconds(passes.front().start);
      batch.end = to_milliseconds(std::ranges::max(passes, {}, &BatchPass::end).end);
      batch.results = to_milliseconds(from.end.results_read);
      batch.first_step = passes.front().step;
      batch.steps = passes.size();
      batch.rows = std::max(engine_.rows_of(from).value_or(joined), joined);
      batch.joined = joined;
      batch.unjoined = batch.rows - joined;
      const bool known = std::ranges::all_of(passes, [](const BatchPass& pass) {
        return !pass.takes_prompts() || pass.tokens.has_value();
      });
      if (known) batch.prompt_tokens = prompt_tokens[row];
      batch.context_tokens = contexts[row];
    }
  }

  void add_estimates(const EngineTime& time) {
    profile::RequestJoin& join = into_.join;
    if (time.alone.count > 0) join.decode_alone = times(time.alone);
    if (time.alone_estimated) {
      join.reasons.push_back(make_reason(ReasonKind::decode_alone_estimated));
    }
    if (time.split_by_tokens > 0) {
      join.reasons.push_back(make_reason(ReasonKind::mixed_steps_by_tokens,
                                         FindingValues().add("steps", time.split_by_tokens)));
    }
  }

  // Index in the batches of the profile; -1: unknown.
  [[nodiscard]] int64_t batch_of(uint32_t chunk) const {
    if (!join_.joined(chunk)) return -1;
    const uint32_t batch = join_.batch[chunk];
    const bool shown = batch >= rows_.first && batch < rows_.behind;
    return shown ? static_cast<int64_t>(batch) - rows_.first : -1;
  }

  void add_items() {
    for (uint32_t request = 0; request < client_.size(); ++request) {
      profile::Request& item = into_.items[request];
      const TokenRequest& of = client_.requests[request];
      for (uint32_t chunk = of.first_chunk; chunk < of.first_chunk + of.chunks; ++chunk) {
        item.token_batches.push_back(batch_of(chunk));
        if (join_.joined(chunk)) item.joined_tokens += client_.chunks[chunk].tokens;
      }
    }
  }

  void add_causes(const Causes& causes) {
    RequestDelays delays;
    RequestTails tails(client_);
    SlowestGaps gaps(client_);
    PartSums all{};
    std::vector<WeightedTime> queues;
    for (uint32_t request = 0; request < client_.size(); ++request) {
      if (!client_.counted[request] || client_.requests[request].chunks == 0) continue;
      if (client_.miscounted[request]) continue;
      profile::Request& item = into_.items[request];
      PartSums sums{};
      causes.each_interval(request, client_.ends[request], [&](const RequestInterval& interval) {
        for (size_t part = 0; part < kRequestParts; ++part) sums[part] += interval.parts[part];
        if (interval.chunk == 0) item.ttft_parts = named_parts(interval.parts);
        add_wait(interval, client_.requests[request].chunks, item);
        item.preemptions += interval.preempted ? 1 : 0;
        delays.add(request, interval);
        tails.add(request, interval);
        gaps.add(request, interval);
      });
      tails.finish(request);
      item.parts = named_parts(sums);
      for (size_t part = 0; part < kRequestParts; ++part) all[part] += sums[part];
      if (join_.joined(client_.requests[request].first_chunk)) {
        queues.push_back({as_double(sums[static_cast<size_t>(RequestPart::queue)])});
      }
    }
    into_.parts = named_parts(all);
    into_.queue = summarize_times(std::move(queues));
    delays.write(into_);
    tails.write(into_);
    gaps.write(into_, [&](uint32_t chunk) { return batch_of(chunk); });
  }

  const trace::Trace& trace_;
  const ClientRequests& requests_;
  const EngineWork& work_;
  const ClientTokens& client_;
  profile::Requests& into_;
  EngineBatches engine_;
  std::vector<bool> breaks_;
  TokenJoin join_;
  std::vector<Prompt> prompts_;
  std::vector<PromptPart> parts_;
  BatchRows rows_;
};

}  // namespace

void explain_requests(const trace::Trace& trace, const EngineWork& work,
                      const ClientRequests& requests, profile::Requests& into) {
  const ClientTokens client = client_tokens(trace, requests);
  Explanation(trace, work, requests, client, into).run();
}

}  // namespace llmprof::analysis
