#pragma once

#include "cpu_llm/float_buffer.h"
#include "cpu_llm/workers.h"

namespace cpu_llm {

// Adjacent rows of the residual stream.
struct ResidualRows {
  float* values;
  size_t count;
};

// normed = residual / sqrt(mean(residual^2) + 1e-5) * weight
void rms_norm(const ResidualRows& residual, const FloatBuffer& weight, float* normed,
              Workers& workers);

// residual += added, then the same.
void add_rms_norm(const ResidualRows& residual, const float* added, const FloatBuffer& weight,
                  float* normed, Workers& workers);

}  // namespace cpu_llm
