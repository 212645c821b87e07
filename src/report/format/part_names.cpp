#include "report/format/part_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace llmprof::report {
namespace {

using Name = std::pair<std::string_view, std::string_view>;

constexpr std::array<Name, 10> kShownNames = {{
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

constexpr std::array<Name, 11> kIdleMeanings = {{
    {"idle: launch-bound",
     "The next launch came too late: the host was still in CUDA calls that launch work."},
    {"idle: synchronisation",
     "The launching thread waited for the GPU before it launched the next work."},
    {"idle: host between launches",
     "The launching thread ran code outside of CUDA calls before it launched the next work."},
    {"idle: between queued kernels",
     "The next work had been launched in time, and the GPU started it later than a launch takes."},
    {"idle: before the first GPU work", "The stage had started, but none of its GPU work had."},
    {"idle: after the last GPU work",
     "The stage's GPU work was done, but the stage had not ended."},
    {"not traced", "Nothing was recorded at that time: GPU work may have run."},
    {"unattributed", "No launch was recorded for the next work, so the cause is not known."},
    {"between operators", "The program ran code outside of recorded operators."},
    {"before the first operator", "The stage had started, but none of its operators had."},
    {"after the last operator", "The stage's operators were done, but the stage had not ended."},
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

std::string_view idle_meaning(std::string_view part) { return find_name(kIdleMeanings, part); }

std::string_view plain_part_name(std::string_view part) {
  const std::string_view plain = find_name(kPlainNames, part);
  return plain.empty() ? shown_name(part) : plain;
}

}  // namespace llmprof::report
