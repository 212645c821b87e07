#pragma once

#include "cpu_llm/annotations.h"
#include "cpu_llm/weights.h"
#include "cpu_llm/workers.h"

namespace cpu_llm {

// Must be called before the first product: the BLAS then computes on the calling thread only.
void leave_threads_to_workers();

// One operator with two names: few rows are limited by reading weights, many rows by computing.
struct ProductName {
  const char* gemv;
  const char* gemm;
};

// outputs = inputs x weights^T, for `rows` of inputs. The order of the additions of an output does
// not depend on the number of workers.
void multiply(const float* inputs, size_t rows, const Matrix& weights, float* outputs,
              Workers& workers);

// The same, as an operator.
void run_product(const ProductName& name, const float* inputs, size_t rows, const Matrix& weights,
                 float* outputs, OperatorLog& log, Workers& workers);

}  // namespace cpu_llm
