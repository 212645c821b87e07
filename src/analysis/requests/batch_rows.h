#pragma once

#include <vector>

#include "analysis/requests/client_tokens.h"

namespace llmprof::analysis {

// What became of the batches' rows while requests were sent.
struct BatchRows {
  uint32_t first = 0;   // batches from the first request on
  uint32_t behind = 0;  // and up to the end of the last one
  uint64_t rows = 0;
  uint64_t joined = 0;  // tokens of completed requests
  uint64_t named = 0;   // of requests that broke off or warmed up, or parts of prompts
  std::vector<uint32_t> joined_by_batch;
};

BatchRows count_rows(const EngineBatches& engine, const ClientTokens& client, const TokenJoin& join,
                     const std::vector<PromptPart>& parts, const std::vector<Prompt>& prompts);

}  // namespace llmprof::analysis
