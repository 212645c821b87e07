#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "analysis/stages/stages.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// The part of a timeline that a kernel ran in.
enum class KernelScope : uint8_t {
  measured,        // in a stage
  warmup,          // in an instance that statistics exclude
  autotuning,      // a burst among them, or outside, that no measured instance has
  initialization,  // before the first stage of its device
  outside,         // between and after stages
};
inline constexpr size_t kKernelScopes = static_cast<size_t>(KernelScope::outside) + 1;
std::string_view to_string(KernelScope scope);

struct ScopeTotal {
  uint64_t kernels = 0;
  Nanoseconds time = 0;
};
using ScopeTotals = std::array<ScopeTotal, kKernelScopes>;

// Every kernel of the trace counts in one scope.
ScopeTotals total_by_scope(const trace::Trace& trace, const Stages& stages);

}  // namespace llmprof::analysis
