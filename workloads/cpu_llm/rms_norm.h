#pragma once

#include "cpu_llm/float_buffer.h"
#include "cpu_llm/workers.h"

namespace cpu_llm {

// Rows of `weight.size()` floats, `stride` floats apart in the residual stream.
struct ResidualRows {
  float* values;
  size_t count;
  size_t stride;
};

// normed = residual / sqrt(mean(residual^2) + 1e-5) * weight; the rows of `normed` are adjacent.
void rms_norm(const ResidualRows& residual, const FloatBuffer& weight, float* normed,
              Workers& workers);

// residual += added, then the same. The rows of `added` are also `stride` apart.
void add_rms_norm(const ResidualRows& residual, const float* added, const FloatBuffer& weight,
                  float* normed, Workers& workers);

}  // namespace cpu_llm
