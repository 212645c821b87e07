#pragma once

#include <optional>
#include <vector>

#include "analysis/mfu/utilization.h"
#include "analysis/naming/classes.h"
#include "analysis/stages/stages.h"
#include "profile/products.h"
#include "trace/trace.h"

namespace llmprof::analysis {

struct Products {
  std::vector<profile::Product> rows;  // longest total first
  profile::ProductsFound found;
};

// `trace` has the operators; `stages` are its own, or none. `use` has the model and the peaks.
Products find_products(const trace::Trace& trace, const DescribedNames& names, const Stages& stages,
                       const UseOfPeaks& use);

// FLOPs of one call.
double product_flops(const trace::ProductTable& products, trace::ProductRow row);

// Bytes of A, B and the result, each once; none if a type is unknown.
std::optional<double> product_bytes(const trace::ProductTable& products, trace::ProductRow row);

}  // namespace llmprof::analysis
