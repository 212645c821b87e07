#pragma once

#include "cpu_llm/annotations.h"
#include "cpu_llm/weights.h"
#include "cpu_llm/workers.h"

namespace cpu_llm {

// Must be called before the first product: the BLAS computes on the thread that calls it.
void leave_threads_to_workers();

// One operator under two names: few rows are limited by reading the weights, many by computing.
struct ProductName {
  const char* gemv;
  const char* gemm;
};

// outputs = inputs x weights^T, for `rows` of inputs. An output is computed in the same order of
// additions whatever the number of workers.
void multiply(const float* inputs, size_t rows, const Matrix& weights, float* outputs,
              Workers& workers);

// The same, as an operator.
void run_product(const ProductName& name, const float* inputs, size_t rows, const Matrix& weights,
                 float* outputs, OperatorLog& log, Workers& workers);

}  // namespace cpu_llm
