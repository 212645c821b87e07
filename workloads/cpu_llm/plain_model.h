#pragma once

#include <span>
#include <vector>

#include "cpu_llm/weights.h"

namespace cpu_llm::testing {

// Another reading of the same model, to check the decoder against: one sequence, all tokens from
// the start, no cache, no threads, nothing fused, double precision. The logits behind the last
// token.
std::vector<double> plain_logits(const Weights& weights, std::span<const Token> tokens);

}  // namespace cpu_llm::testing
