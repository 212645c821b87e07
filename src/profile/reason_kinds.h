#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace llmprof::profile {

// What a reason says: why a figure is missing, what it was made of, by which rule. The names are a
// contract of profile.json; report/reasons puts them into words.
enum class ReasonKind : uint8_t {
  // Why there is no utilization.
  no_stages,
  no_model,
  no_model_given,
  gpu_not_named,
  gpu_unknown,
  cpu_peaks_unknown,
  all_warmup,
  several_gpus,
  no_peak_of_format,
  contexts_unknown,
  busy_time_untraced,
  work_not_recorded,
  prompt_tokens_unknown,
  decode_steps_unknown,
  step_tokens_unknown,
  no_cost_formula,
  impossible_figure,
  depends_on_impossible_figure,
  above_measured_peak,
  above_measured_bandwidth,
  slightly_above_measured,
  // The passes that a stage's cost counts.
  prefill_pass,
  decode_passes,
  engine_steps,
  engine_steps_in_context,
  recorded_operators,
  traced_steps_on_busy_time,
  // How a floor was found.
  flops_at_peak,
  bytes_at_peak,
  own_flops_at_peak,
  own_bytes_at_peak,
  zero_overlaps_computation,
  zero_copy_avoidable,
  zero_small_beside_output_head,
  zero_fusible_into_experts,
  zero_fusible_into_products,
  zero_copies_overlap_kernels,
  zero_fewer_kernels,
  zero_idle_gpu,
  zero_outside_operators,
  own_time_unknown_kernels,
  own_time_hidden_graphs,
  own_time_unknown_cause,
  own_time_without_floor,
  // Rooflines.
  bound_by_ncu,
  bound_by_counters,
  bound_by_recorded_work,
  no_kernel_metrics,
  flops_not_counted,
  bytes_not_counted,
  throughput_not_measured,
  shorter_than_samples,
  operators_without_work,
  bound_needs_cpu_peaks,
  // Counters and sensors.
  few_counter_samples,
  no_counter_samples,
  impossible_bandwidth,
  sensors_read_rarely,
  // Operators and layers.
  trace_without_operators,
  no_framework_operators,
  layers_in_hidden_graphs,
  stage_without_kernels,
  layer_steps_unknown,
  layers_not_repeating,
  unlike_median_layer,
  // The collector's own cost.
  few_tracing_windows,
  // Slow steps: which they are, and what took longer.
  slow_step_rule,
  longer_work,
  longer_gap,
  longer_small_gaps,
  longer_unexplained,
  shorter_other_parts,
  // What the host did while the GPU was idle.
  host_call,
  host_operator,
  host_code,
  host_launched_graph,
  host_launched_ahead,
  host_launched_before,
  host_not_recorded,
  // Between the ranks of a job: why they are not compared, what a group of ranks does together, why
  // a rank is waited for.
  one_rank_recorded,
  ranks_without_collectives,
  collectives_not_matched,
  parallelism_told,
  only_point_to_point,
  mostly_all_to_all,
  collectives_in_each_layer,
  collectives_once_per_step,
  communication_behind_compute,
  parallelism_not_clear,
  rank_busy_longer,
  rank_launched_later,
  rank_more_tokens,
  rank_lower_clock,
  rank_slower_steps,
  rank_single_delays,
  rank_cause_not_seen,
};

struct ReasonKindDescription {
  ReasonKind kind;
  std::string_view name;  // "no_model"
  // Names of the values that each reason of this kind has; it may have others beside them.
  std::span<const std::string_view> values;
};

// In the order of the enum.
std::span<const ReasonKindDescription> reason_kinds();

std::string_view to_string(ReasonKind kind);
// None for a name of another version.
std::optional<ReasonKind> reason_kind(std::string_view name);

}  // namespace llmprof::profile
