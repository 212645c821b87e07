#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpu_llm/decoder.h"

namespace cpu_llm {

// A stage of one request, or a step of it.
struct StageTiming {
  int64_t wall_ns = 0;
  OperatorCost cost;
  int64_t delay_ns = 0;  // by which operators were slowed down
};

struct RequestTiming {
  StageTiming prefill;  // including the sampling of the first token
  StageTiming decode;   // all steps
  std::vector<int64_t> decode_steps_ns;
};

struct RequestResult {
  RequestTiming timing;
  std::vector<Token> tokens;  // by step; one per sequence in each
};

// Tokens of `batch` prompts, one after the other.
std::vector<Token> random_prompts(size_t tokens, size_t batch, size_t vocabulary, uint64_t seed,
                                  uint64_t request);

// Adds `new_tokens` to each of `batch` prompts by greedy sampling.
RequestResult run_request(Decoder& decoder, std::span<const Token> prompts, size_t batch,
                          size_t new_tokens);

}  // namespace cpu_llm
