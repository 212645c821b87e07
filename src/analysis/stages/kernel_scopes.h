#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "analysis/stages/stages.h"
#include "profile/totals.h"
#include "trace/trace.h"

namespace llmprof::analysis {

using KernelScope = profile::Scope;
inline constexpr size_t kKernelScopes = profile::kWords<KernelScope>.size();

struct ScopeTotal {
  uint64_t kernels = 0;
  Nanoseconds time = 0;
};
using ScopeTotals = std::array<ScopeTotal, kKernelScopes>;

// Every kernel of the trace counts in one scope.
ScopeTotals total_by_scope(const trace::Trace& trace, const Stages& stages);

}  // namespace llmprof::analysis
