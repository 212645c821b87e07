#pragma once

#include <span>

#include "analysis/requests/join_tokens.h"

namespace llmprof::analysis {

// A delay that no chunk falls below, from the results of a batch to their arrival: 0 unless tokens
// take longer to the client than the engine's next batches. Then it is the shortest one with which
// as many tokens follow each batch as it has rows.
Nanoseconds shortest_delay(std::span<const JoinBatch> batches, std::span<const TokenChunk> chunks);

}  // namespace llmprof::analysis
