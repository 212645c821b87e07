#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace llmprof {

// All calls of one framework operator.
struct OperatorRow {
  std::string name;
  uint64_t calls = 0;
  Nanoseconds cpu_total = 0;  // with the operators inside it
  Nanoseconds cpu_self = 0;   // without them
  // GPU time of the kernels launched inside it; `self` of those no inner operator launched.
  Nanoseconds cuda_total = 0;
  Nanoseconds cuda_self = 0;
  uint64_t kernel_count = 0;  // behind cuda_total

  [[nodiscard]] double mean_cpu_ns() const {
    return static_cast<double>(cpu_total) / static_cast<double>(calls == 0 ? 1 : calls);
  }
};

struct Operators {
  std::vector<OperatorRow> rows;  // by cuda_self, then cpu_self, longest first
  std::string source;             // "PyTorch trace", "NVTX operator ranges (emit_nvtx)"
  std::string missing;            // why there are none, and what capture would give them
  uint64_t kernels = 0;           // with an operator
  uint64_t kernels_without = 0;
};

Operators find_operators(const Trace& trace);

}  // namespace llmprof
