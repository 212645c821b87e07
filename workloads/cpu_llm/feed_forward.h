#pragma once

#include "cpu_llm/workers.h"

namespace cpu_llm {

// SwiGLU without its products: rows of gate and up become rows of silu(gate) * up.
void silu_mul(const float* gate_up, size_t rows, size_t intermediate, float* outputs,
              Workers& workers);

}  // namespace cpu_llm
