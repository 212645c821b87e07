#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/naming/classes.h"
#include "profile/products.h"
#include "trace/trace.h"

namespace llmprof::analysis {

using profile::WhyNoShape;

// A matrix product that ran: the kernels of one call of an operator, or of one replay of it.
struct ProductCall {
  trace::ProductRow product;
  uint32_t first_kernel = 0;  // row of Trace::kernels
  uint32_t kernel = 0;        // the longest; those of class gemm or gemv before all others
  uint32_t kernels = 0;
  Nanoseconds time = 0;
};

// A kernel of class gemm or gemv, other than a convolution, whose product is unknown.
struct UnknownProduct {
  uint32_t kernel = 0;  // row of Trace::kernels
  uint32_t name = 0;    // of the innermost operator at its launch: index in operator_names
  WhyNoShape why{};
};

struct ProductCalls {
  std::vector<ProductCall> calls;                // by first kernel
  std::vector<UnknownProduct> unknown;           // by kernel
  std::vector<std::string_view> operator_names;  // in the trace; the last one is empty: no operator
};

// A kernel belongs to the product whose operator is the innermost one open at its launch, or when
// its graph node was captured: what an operator launches through others (a copy of an input) is no
// part of its product.
ProductCalls find_product_calls(const trace::Trace& trace, const DescribedNames& names);

}  // namespace llmprof::analysis
