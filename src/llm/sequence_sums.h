#pragma once

#include <cstdint>

namespace llmprof::llm {

// Sequences that pass together, described by sums over them. A sequence adds q tokens, its queries,
// and has k tokens then, its keys: those that were cached and the q new ones. These sums determine
// the work of causal attention without a window exactly, whatever the mix of lengths.
struct SequenceSums {
  uint64_t sequences = 0;
  uint64_t queries = 0;          // sum of q
  uint64_t keys = 0;             // sum of k
  uint64_t queries_squared = 0;  // sum of q * q
  uint64_t queries_by_keys = 0;  // sum of q * k

  friend bool operator==(const SequenceSums&, const SequenceSums&) = default;
};

// Whether some sequences have these sums: each k is at least its q, and sums of squares are bounded
// by the squares of sums.
[[nodiscard]] bool are_possible(const SequenceSums& sums);

// (query, key) pairs of causal attention without a window: a sequence's queries see its cached
// tokens, themselves and those before them.
[[nodiscard]] double causal_pairs(const SequenceSums& sums);

// One forward pass over a batch in which some sequences are in prefill, some in decode.
struct MixedPass {
  SequenceSums prefill;
  SequenceSums decode;

  [[nodiscard]] uint64_t tokens() const { return prefill.queries + decode.queries; }
  // The last position of each prompt; of each sequence in decode all, since drafted tokens are
  // verified by their logits.
  [[nodiscard]] uint64_t positions_with_logits() const {
    return prefill.sequences + decode.queries;
  }

  friend bool operator==(const MixedPass&, const MixedPass&) = default;
};

}  // namespace llmprof::llm
