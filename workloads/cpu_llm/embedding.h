#pragma once

#include <span>

#include "cpu_llm/weights.h"

namespace cpu_llm {

// Copies the row of each token from the table.
void embed(std::span<const Token> tokens, const Matrix& table, float* outputs, Workers& workers);

}  // namespace cpu_llm
