#pragma once

#include <cstdint>

namespace llmprof {

// How a matrix of a product lies in memory, as the product sees it: A has m rows of k values, B has
// k rows of n. A weight of a linear layer is stored by output feature, so B is transposed.
enum class MatrixLayout : uint8_t {
  unknown,
  plain,       // rows are contiguous
  transposed,  // columns are contiguous
  strided,     // neither
};

}  // namespace llmprof
