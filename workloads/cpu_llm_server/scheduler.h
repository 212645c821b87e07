#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "cpu_llm/model_shape.h"

namespace cpu_llm_server {

using cpu_llm::Token;
// In order of arrival.
using RequestId = uint64_t;

struct SchedulerLimits {
  size_t slots = 8;            // sequences in a step, each with its own part of the KV cache
  size_t chunk_tokens = 128;   // rows of a step: sequences in decode first, then prompts
  size_t cache_tokens = 4096;  // of all running requests together
};

struct GenerationLimits {
  size_t max_tokens = 16;
  std::optional<Token> end_token;  // none: it never ends the generation
};

// What a step computes for one request.
struct StepPart {
  RequestId request = 0;
  size_t slot = 0;
  size_t cached = 0;
  size_t added = 0;
  bool prompt = false;  // of a prompt, or again after a preemption
  bool gets_token = false;
};

struct StepPlan {
  std::vector<StepPart> parts;
  std::vector<Token> tokens;         // of all parts, one after the other
  std::vector<RequestId> preempted;  // before this step
  size_t waiting = 0;

  [[nodiscard]] bool empty() const { return parts.empty(); }
};

enum class FinishReason : uint8_t { none, length, stop };

struct GeneratedToken {
  RequestId request = 0;
  Token token = 0;
  FinishReason finish = FinishReason::none;
};

// Continuous batching: decides which tokens of which requests the next step computes. Requests
// start in the order of their arrival, when a slot and room for their prompt are free. Prompts are
// computed in chunks beside the decode of other requests. If the cache is full, the youngest
// running request is preempted: its cache is dropped, and its prompt and generated tokens are
// computed again once there is room.
class Scheduler {
 public:
  explicit Scheduler(const SchedulerLimits& limits) : limits_(limits), free_slots_(limits.slots) {
    for (size_t i = 0; i < limits.slots; ++i) free_slots_[i] = limits.slots - 1 - i;
  }

  // Whether a request could ever be computed.
  [[nodiscard]] bool fits(size_t prompt_tokens, size_t max_tokens) const {
    return prompt_tokens + max_tokens <= limits_.cache_tokens;
  }

  // A request younger than all before; `prompt` has at least one token, and fits.
  void add(RequestId request, std::vector<Token> prompt, const GenerationLimits& limits);
  // Nothing if it has ended.
  void cancel(RequestId request);

  // Preempts the youngest running request in decode, which then waits until `release`. None if none
  // is in decode.
  std::optional<RequestId> evict();
  void release();

  // Empty if nothing is left to do, or if all that is left waits for `release`. Each plan is
  // followed by `complete`.
  StepPlan plan();
  // `sampled`: for each part that gets a token, in order. Requests canceled since are skipped.
  std::vector<GeneratedToken> complete(const StepPlan& plan, std::span<const Token> sampled);

  [[nodiscard]] size_t running() const { return running_.size(); }
  [[nodiscard]] size_t decoding() const;
  [[nodiscard]] size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] size_t used_cache_tokens() const;

 private:
  struct Sequence {
    RequestId id = 0;
    std::vector<Token> tokens;  // prompt and generated ones
    size_t prompt_tokens = 0;
    GenerationLimits limits;
    size_t cached = 0;
    size_t slot = 0;
    bool held = false;  // until `release`

    [[nodiscard]] size_t generated() const { return tokens.size() - prompt_tokens; }
    [[nodiscard]] bool decodes() const { return generated() > 0 && cached + 1 == tokens.size(); }
  };

  Sequence& preempt(std::vector<Sequence>::iterator sequence);
  void add_part(Sequence& sequence, size_t added, bool prompt, StepPlan& plan);
  void admit(size_t& budget, StepPlan& plan);

  SchedulerLimits limits_;
  std::vector<size_t> free_slots_;
  std::vector<Sequence> running_;  // by arrival
  std::deque<Sequence> waiting_;   // by arrival
  std::vector<RequestId> preempted_;
};

}  // namespace cpu_llm_server
