#include "report/format/part_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace llmprof::report {
namespace {

using Name = std::pair<std::string_view, std::string_view>;

constexpr std::array<Name, 14> kShownNames = {{
    {"quantise", "quantization"},
    {"idle: synchronisation", "idle: synchronization"},
    {"share of the class's floor", "share of the class's lower bound"},
    {"Stage 1 metrics", "the workload's own metrics"},
    {"all_reduce", "all-reduce"},
    {"reduce_scatter", "reduce-scatter"},
    {"all_gather", "all-gather"},
    {"all_to_all", "all-to-all"},
    {"nvlink", "NVLink"},
    {"pcie", "PCIe"},
    {"longer_kernels", "longer kernels"},
    {"late_launch", "late launches"},
    {"more_tokens", "more tokens"},
    {"lower_clock", "lower clock"},
}};

constexpr std::array<Name, 23> kPlainNames = {{
    {"gemm", "matrix products"},
    {"gemv", "matrix-vector products"},
    {"norm", "normalization"},
    {"rope", "position embedding (RoPE)"},
    {"elementwise", "element-wise operations"},
    {"reduction", "reductions"},
    {"embedding/gather", "embedding lookups and gathers"},
    {"sampling/top-k", "token selection"},
    {"copy/cast", "copies and type conversions"},
    {"moe routing", "routing tokens to experts"},
    {"hidden CUDA graphs", "CUDA graphs whose kernels were not recorded"},
    {"idle: launch-bound", "kernel launches that come too late"},
    {"idle: synchronisation", "the CPU waiting for the GPU before it launches more"},
    {"idle: host between launches", "CPU code that runs between kernel launches"},
    {"idle: between queued kernels", "gaps between kernels that were launched in time"},
    {"idle: before the first GPU work", "what runs before the first kernel"},
    {"idle: after the last GPU work", "what runs after the last kernel"},
    {"idle: waiting for the slowest rank", "ranks waiting for the slowest one"},
    {"waiting for the slowest rank", "ranks waiting for the slowest one"},
    {"before the first operator", "what runs before the first operator"},
    {"after the last operator", "what runs after the last operator"},
    {"between operators", "what runs between operators"},
    {"not traced", "what was not traced"},
}};

template <size_t N>
std::string_view find_name(const std::array<Name, N>& names, std::string_view part) {
  const auto* const found = std::find_if(names.begin(), names.end(),
                                         [&](const Name& name) { return name.first == part; });
  return found == names.end() ? std::string_view() : found->second;
}

}  // namespace

std::string_view shown_name(std::string_view part) {
  const std::string_view shown = find_name(kShownNames, part);
  return shown.empty() ? part : shown;
}

std::string_view plain_part_name(std::string_view part) {
  const std::string_view plain = find_name(kPlainNames, part);
  return plain.empty() ? shown_name(part) : plain;
}

}  // namespace llmprof::report
