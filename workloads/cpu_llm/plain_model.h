#pragma once

#include <span>
#include <vector>

#include "cpu_llm/weights.h"

namespace cpu_llm::testing {

// An independent implementation of the same model, as a reference for the decoder: one sequence,
// all tokens from the start, no cache, no threads, nothing fused, double precision. Returns the
// logits after the last token.
std::vector<double> plain_logits(const Weights& weights, std::span<const Token> tokens);

}  // namespace cpu_llm::testing
