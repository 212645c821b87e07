#pragma once

#include <optional>
#include <span>

#include "analysis/requests/client_requests.h"
#include "analysis/requests/client_tokens.h"

namespace llmprof::analysis {

// Joined tokens whose batch the engine's own statements confirm, or contradict. The join does not
// use them.
struct Confirmation {
  uint64_t confirmed = 0;
  uint64_t contradicted = 0;

  [[nodiscard]] bool is_known() const { return confirmed + contradicted > 0; }
};

// An engine states which requests it works on if its ranges are named with their ids: a batch of a
// request's token is within one of the request's ranges. It also may state when it began with a
// request. `parts`: of prompts.
Confirmation engine_statements(const trace::Trace& trace, const ClientRequests& requests,
                               const ClientTokens& client, const EngineBatches& engine,
                               const TokenJoin& join, std::span<const PromptPart> parts);

}  // namespace llmprof::analysis
