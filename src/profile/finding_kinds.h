#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace llmprof::profile {

// What a finding is about. The names are a contract of profile.json.
enum class FindingKind : uint8_t {
  hidden_graphs,
  host_stall_repeated,
  host_stall_single,
  launch_bound,
  gap_between_steps,
  synchronization,
  queue_gaps,
  first_work_queued,
  idle_before_first_work,
  idle_after_last_work,
  gemm_above_floor,
  gemv_above_floor,
  attention_above_floor,
  small_kernels,
  fusible_norm,
  fusible_rope,
  fusible_elementwise,
  copies_and_casts,
  token_selection,
  expert_routing,
  exposed_communication,
  exposed_copies,
  low_clocks,
  slow_steps,
  latency_bound_kernels,
  time_outside_operators,
  straggler,
  pipeline_bubble,
  expert_imbalance,
  slow_link,
};

struct FindingKindDescription {
  FindingKind kind;
  std::string_view name;     // "launch_bound"
  std::string_view meaning;  // for the documentation
  // Names of the values that each finding of this kind has; it may have others beside them.
  std::span<const std::string_view> values;
};

// In the order of the enum.
std::span<const FindingKindDescription> finding_kinds();

std::string_view to_string(FindingKind kind);
// None for a name of another version.
std::optional<FindingKind> finding_kind(std::string_view name);

}  // namespace llmprof::profile
