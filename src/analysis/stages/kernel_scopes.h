#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/stages/stages.h"
#include "profile/totals.h"
#include "trace/trace.h"

namespace llmprof::analysis {

using KernelScope = profile::Scope;
inline constexpr size_t kKernelScopes = profile::kWords<KernelScope>.size();

using ScopeTotals = std::array<Calls, kKernelScopes>;

// Every kernel of the trace counts in exactly one scope.
ScopeTotals total_by_scope(const trace::Trace& trace, const Stages& stages);

// How many of a trace's kernels are inside stages; none without kernels. `scopes` is none without
// stages.
std::optional<profile::Coverage> coverage(const trace::Trace& trace, const Stages& stages,
                                          const std::optional<ScopeTotals>& scopes);

// One to three kernels that repeat many times without a pause: filling weights, tuning a kernel.
// Positions [begin, end) of a sequence.
struct KernelBurst {
  size_t begin = 0;
  size_t end = 0;
  uint32_t period = 0;
};

// By period, then `begin`; bursts of different periods may overlap.
std::vector<KernelBurst> find_kernel_bursts(std::span<const uint32_t> sequence);

}  // namespace llmprof::analysis
