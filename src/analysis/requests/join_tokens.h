#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/units.h"

namespace llmprof::analysis {

inline constexpr uint32_t kNoBatch = UINT32_MAX;

// A batch as the join sees it.
struct JoinBatch {
  Nanoseconds results = 0;       // when the host had read them
  std::optional<uint64_t> rows;  // sequences that get a token; none: unknown
  bool takes_prompts = false;
  bool after_break = false;  // batches before it were not recorded
  bool decodes = true;       // sequences in decode get a token
};

// A piece of an answer with at least one token, in order of arrival.
struct TokenChunk {
  Nanoseconds time = 0;
  uint32_t tokens = 1;
};

// The chunks of a request are in a row of all chunks.
struct TokenRequest {
  Nanoseconds sent = 0;
  uint32_t first_chunk = 0;
  uint32_t chunks = 0;
};

enum class ChunkState : uint8_t {
  joined,
  ambiguous,  // joined, but another batch could have made it as well
  unmatched,  // no batch fits
  outside,    // its batch was not recorded
};

struct TokenJoin {
  std::vector<uint32_t> batch;    // by chunk: the batch that made its last token; kNoBatch
  std::vector<ChunkState> state;  // by chunk
  std::vector<uint32_t> tokens;   // by batch: rows that became tokens of any request
  // Each batch gives a sequence one token, so that a chunk of several is of several batches.
  // Otherwise one batch gives them all (speculative decoding).
  bool token_per_batch = true;
  std::vector<Nanoseconds> delays;  // of joined chunks, from the results to the arrival, by size

  [[nodiscard]] bool joined(uint32_t chunk) const {
    return state[chunk] == ChunkState::joined || state[chunk] == ChunkState::ambiguous;
  }
};

// Finds the batch that made each chunk, from times alone: an answer's chunks are of later and later
// batches, each arrives after its batch's results were read, and a batch gives as many tokens as it
// has rows. `speculative`: a batch may give a sequence several tokens.
TokenJoin join_tokens(std::span<const JoinBatch> batches, std::span<const TokenRequest> requests,
                      std::span<const TokenChunk> chunks, bool speculative);

}  // namespace llmprof::analysis
