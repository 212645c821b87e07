#include "cpu_llm_server/scheduler.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cpu_llm_server {

void Scheduler::add(RequestId request, std::vector<Token> prompt, const GenerationLimits& limits) {
  Sequence sequence;
  sequence.id = request;
  sequence.prompt_tokens = prompt.size();
  sequence.tokens = std::move(prompt);
  sequence.limits = limits;
  waiting_.push_back(std::move(sequence));
}

void Scheduler::cancel(RequestId request) {
  std::erase_if(waiting_, [&](const Sequence& each) { return each.id == request; });
  const auto found = std::ranges::find(running_, request, &Sequence::id);
  if (found == running_.end()) return;
  free_slots_.push_back(found->slot);
  running_.erase(found);
}

size_t Scheduler::used_cache_tokens() const {
  size_t used = 0;
  for (const Sequence& sequence : running_) used += sequence.tokens.size();
  return used;
}

size_t Scheduler::decoding() const {
  return static_cast<size_t>(std::ranges::count_if(running_, &Sequence::decodes));
}

// It waits again, among the others by its arrival.
Scheduler::Sequence& Scheduler::preempt(std::vector<Sequence>::iterator sequence) {
  Sequence preempted = std::move(*sequence);
  running_.erase(sequence);
  free_slots_.push_back(preempted.slot);
  preempted.cached = 0;
  preempted_.push_back(preempted.id);
  const auto place = std::ranges::upper_bound(waiting_, preempted.id, {}, &Sequence::id);
  return *waiting_.insert(place, std::move(preempted));
}

std::optional<RequestId> Scheduler::evict() {
  for (auto youngest = running_.end(); youngest != running_.begin();) {
    if (!(--youngest)->decodes()) continue;
    Sequence& evicted = preempt(youngest);
    evicted.held = true;
    return evicted.id;
  }
  return std::nullopt;
}

void Scheduler::release() {
  for (Sequence& sequence : waiting_) sequence.held = false;
}

void Scheduler::add_part(Sequence& sequence, size_t added, bool prompt, StepPlan& plan) {
  const size_t computed = sequence.cached + added;
  plan.parts.push_back({sequence.id, sequence.slot, sequence.cached, added, prompt,
                        computed == sequence.tokens.size()});
  const auto first = sequence.tokens.begin() + static_cast<std::ptrdiff_t>(sequence.cached);
  plan.tokens.insert(plan.tokens.end(), first, first + static_cast<std::ptrdiff_t>(added));
}

// A request reserves room for all tokens that it has so far: prefill never runs out of cache.
void Scheduler::admit(size_t& budget, StepPlan& plan) {
  for (auto next = waiting_.begin(); next != waiting_.end() && budget > 0;) {
    if (next->held) {
      ++next;
      continue;
    }
    const bool has_room = used_cache_tokens() + next->tokens.size() <= limits_.cache_tokens;
    if (free_slots_.empty() || !has_room) return;
    Sequence sequence = std::move(*next);
    next = waiting_.erase(next);
    sequence.slot = free_slots_.back();
    free_slots_.pop_back();
    const size_t added = std::min(budget, sequence.tokens.size());
    budget -= added;
    add_part(sequence, added, true, plan);
    running_.insert(std::ranges::upper_bound(running_, sequence.id, {}, &Sequence::id),
                    std::move(sequence));
  }
}

StepPlan Scheduler::plan() {
  StepPlan plan;
  while (used_cache_tokens() > limits_.cache_tokens) preempt(std::prev(running_.end()));
  plan.preempted = std::exchange(preempted_, {});
  size_t budget = limits_.chunk_tokens;
  for (Sequence& sequence : running_) {
    if (!sequence.decodes()) continue;
    add_part(sequence, 1, false, plan);
    budget -= std::min<size_t>(budget, 1);
  }
  for (Sequence& sequence : running_) {
    if (sequence.decodes() || budget == 0) continue;
    const size_t added = std::min(budget, sequence.tokens.size() - sequence.cached);
    budget -= added;
    add_part(sequence, added, true, plan);
  }
  admit(budget, plan);
  plan.waiting = waiting_.size();
  return plan;
}

std::vector<GeneratedToken> Scheduler::complete(const StepPlan& plan,
                                                std::span<const Token> sampled) {
  std::vector<GeneratedToken> generated;
  size_t next_sampled = 0;
  for (const StepPart& part : plan.parts) {
    const Token token = part.gets_token ? sampled[next_sampled++] : 0;
    const auto sequence = std::ranges::find(running_, part.request, &Sequence::id);
    if (sequence == running_.end()) continue;
    sequence->cached = part.cached + part.added;
    if (!part.gets_token) continue;
    sequence->tokens.push_back(token);
    FinishReason finish = FinishReason::none;
    if (sequence->generated() >= sequence->limits.max_tokens) finish = FinishReason::length;
    if (token == sequence->limits.end_token) finish = FinishReason::stop;
    generated.push_back({part.request, token, finish});
    if (finish != FinishReason::none) cancel(part.request);
  }
  return generated;
}

}  // namespace cpu_llm_server
