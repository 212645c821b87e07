#pragma once

#include <optional>
#include <vector>

#include "analysis/requests/client_requests.h"
#include "analysis/requests/join_tokens.h"
#include "analysis/requests/prompts.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// The requests of a file with their tokens, on the trace's clock, in the file's order.
struct ClientTokens {
  std::vector<TokenRequest> requests;
  std::vector<TokenChunk> chunks;  // with tokens
  std::vector<Nanoseconds> ends;   // of the answer, or its last token
  std::vector<bool> counted;       // completed, and not sent to warm up
  // Its chunks have more tokens than it states, so that some are none, and the others are joined to
  // wrong batches.
  std::vector<bool> miscounted;
  std::vector<std::optional<uint64_t>> prompt_tokens;  // that an engine has to process

  [[nodiscard]] size_t size() const { return requests.size(); }
  [[nodiscard]] Nanoseconds time(uint32_t request, uint32_t chunk) const {
    return chunks[requests[request].first_chunk + chunk].time;
  }
};

// Requests without a known sending time have no chunks.
ClientTokens client_tokens(const trace::Trace& trace, const ClientRequests& requests);

// The prompts behind the joined tokens: of each request, and again of those that left the batch and
// came back with a prompt.
std::vector<Prompt> joined_prompts(const ClientTokens& client, const TokenJoin& join,
                                   const EngineBatches& engine);

// Without those that came back with a prompt of which the passes hold less than half: these
// sequences only decoded in a pass that took prompts of others. `prompts` as `joined_prompts`
// orders them.
std::vector<Prompt> held_prompts(const std::vector<Prompt>& prompts,
                                 const std::vector<PromptPart>& parts);

// By batch: joined tokens of sequences in decode.
std::vector<uint32_t> decode_tokens(const ClientTokens& client, const TokenJoin& join,
                                    const std::vector<Prompt>& prompts, size_t batches);

}  // namespace llmprof::analysis
