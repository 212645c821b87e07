#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "analysis/requests/engine_time.h"
#include "analysis/requests/join_tokens.h"
#include "analysis/requests/prompts.h"
#include "profile/requests.h"

namespace llmprof::analysis {

using profile::RequestPart;
inline constexpr size_t kRequestParts = static_cast<size_t>(RequestPart::not_recorded) + 1;
using PartSums = std::array<Nanoseconds, kRequestParts>;

// Those that are not 0.
profile::ByWord<RequestPart, profile::WholeNanoseconds> named_parts(const PartSums& parts);

// How long a request waited for another one's prompt.
struct WaitFor {
  uint32_t owner = 0;
  Nanoseconds time = 0;
};

// The time from one chunk of a request to the next: the first one starts when it was sent, the last
// one ends with the request, behind its last chunk.
struct RequestInterval {
  uint32_t chunk = 0;  // index among the request's chunks; their number: from the last to the end
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  PartSums parts{};  // sum to end - start
  std::span<const WaitFor> waits;
  bool preempted = false;  // the request left the batch in it
};

// Where the time of requests went. Everything is on the trace's clock.
class Causes {
 public:
  // All but the prompts and their parts must outlive this object. `chunks`: of all requests.
  Causes(const EngineBatches& engine, const EngineTime& time, const TokenJoin& join,
         std::span<const TokenRequest> requests, std::span<const TokenChunk> chunks,
         std::span<const Prompt> prompts, std::span<const PromptPart> parts);

  // Calls visit(interval) for all intervals of a request from `sent` to `end`, in order.
  using Visit = std::function<void(const RequestInterval&)>;
  void each_interval(uint32_t request, Nanoseconds end, const Visit& visit) const;

 private:
  class Walk;

  const EngineBatches& engine_;
  const EngineTime& time_;
  const TokenJoin& join_;
  std::span<const TokenRequest> requests_;
  std::span<const TokenChunk> chunks_;
  // Batches with a part of each request's prompts, by request, then batch.
  std::vector<uint32_t> first_prompt_;
  std::vector<uint32_t> prompt_batches_;
  std::set<std::pair<uint32_t, uint32_t>> ends_;  // request and batch of the end of each prompt
};

}  // namespace llmprof::analysis
