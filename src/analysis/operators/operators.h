#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/reasons.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// All calls of one framework operator. An operator inside another of the same name adds to `calls`
// and to the self times, but not again to the totals, so that no total exceeds the time there was.
struct OperatorRow {
  std::string name;
  uint64_t calls = 0;
  Nanoseconds cpu_total = 0;  // with the operators inside it
  Nanoseconds cpu_self = 0;   // without them
  // GPU time of the kernels, copies and fills launched inside it, as torch's own tables count it;
  // `self` of those that no inner operator launched.
  Nanoseconds cuda_total = 0;
  Nanoseconds cuda_self = 0;
  uint64_t kernel_count = 0;  // kernels counted in cuda_total, without copies and fills
  // Over all calls, as the program recorded them; absent where it did not.
  std::optional<double> flops = std::nullopt;
  std::optional<double> bytes = std::nullopt;

  [[nodiscard]] double mean_cpu_ns() const {
    return static_cast<double>(cpu_total) / static_cast<double>(calls == 0 ? 1 : calls);
  }
};

struct Operators {
  std::vector<OperatorRow> rows;  // by cuda_self, then cpu_self, longest first
  std::string source;        // "PyTorch trace", "llmprof log", "NVTX operator ranges (emit_nvtx)"
  profile::Reasons missing;  // why there are none
  // Kernels of the captures that have operators, with one and without.
  uint64_t kernels = 0;
  uint64_t kernels_without = 0;
  Nanoseconds device_time = 0;  // of all kernels, copies and fills of the trace
  uint64_t graph_kernels = 0;   // replayed by CUDA graphs, which run no operators
  // Of them, with the operators of their graph's capture, whose trace was given.
  uint64_t captured_kernels = 0;
};

// GPU work belongs to the operator that was open innermost on the launching thread when it was
// launched; work whose launch was not recorded, to the operator that the capture itself names.
Operators find_operators(const trace::Trace& trace);

}  // namespace llmprof::analysis
