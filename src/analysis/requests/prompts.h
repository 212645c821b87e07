#pragma once

#include <span>
#include <vector>

#include "analysis/requests/batches.h"
#include "analysis/requests/join_tokens.h"

namespace llmprof::analysis {

inline constexpr uint32_t kNoRequest = UINT32_MAX;

// A prompt that the batches processed, up to the one that gave the first token behind it. A
// sequence that was evicted has another one: its prompt with all that it had generated.
struct Prompt {
  uint32_t request = 0;
  uint32_t batch = 0;              // gives the first token behind it
  Nanoseconds known_from = 0;      // no batch before this time can hold a part of it
  std::optional<uint64_t> tokens;  // to process; none: unknown
  bool again = false;              // of an evicted sequence
};

// Part of a prompt in a pass.
struct PromptPart {
  uint32_t pass = 0;              // row of EngineBatches::passes
  uint32_t batch = 0;             // row of EngineBatches::batches
  uint32_t request = kNoRequest;  // none: no request is known to have it
  uint64_t tokens = 0;
};

// Whose prompts the passes processed, by pass. Times do not show that; tokens do: a prompt ends in
// the batch that gives its first token, and batches before it have the rest. Of several prompts in
// a batch, those that end later have as many of its tokens as they still can.
std::vector<PromptPart> prompt_parts(const EngineBatches& engine, std::span<const Prompt> prompts,
                                     std::span<const uint32_t> decode_tokens);

}  // namespace llmprof::analysis
