#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "profile/finding_values.h"
#include "profile/vocabulary.h"

namespace llmprof::profile {

// What a reason says: why a figure is missing, what it was computed from, by which rule. The names
// are a contract of profile.json, spelled as here; report/reasons puts them into words.
enum class ReasonKind : uint8_t {
  // How stages were found.
  passes_between_ranges,
  passes_in_sequence,
  kernels_repeat,
  passes_with_known_ends,
  layers_outside_passes,
  repetition_alone,
  no_sign_of_tokens,
  kind_is_a_guess,
  // How each detected stage was.
  larger_passes,
  one_token_passes,
  mixed_passes,
  passes_of_other_model,
  // Why no stages were found.
  no_timeline,
  no_gpu_work,
  training_by_kernels,
  training_by_threads,
  nothing_repeats,
  none_equal_behind,
  few_behind_each_other,
  no_attention,
  no_pass_ends,
  few_layers_in_passes,
  passes_cut,
  softmax_alone,
  any_loop,
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
  // The passes included in a stage's cost.
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
  // Collector overhead.
  few_tracing_windows,
  // Slow steps: the rule for them, and what took longer.
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
  // What the causes of requests' times rest on.
  decode_alone_estimated,
  mixed_steps_by_tokens,
  // Job ranks: why they are not compared, what a group of ranks does together, why others wait for
  // a rank.
  one_rank_recorded,
  ranks_without_collectives,
  collectives_not_matched,
  parallelism_set,
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

// The names of the values that each reason of a kind has; kinds without a row have none.
constexpr auto words_of(ReasonKind /*of*/) {
  using enum ReasonKind;
  return kinds_with_values<ReasonKind>({
      {passes_between_ranges, {"passes", "named"}},
      {passes_in_sequence, {"passes", "named"}},
      {kernels_repeat, {"share"}},
      {passes_with_known_ends, {"share"}},
      {layers_outside_passes, {"layers_outside", "layers"}},
      {none_equal_behind, {"stretches"}},
      {few_behind_each_other, {"stretches", "following"}},
      {no_pass_ends, {"layers", "by_softmax"}},
      {few_layers_in_passes, {"layers_in_passes", "layers", "passes"}},
      {softmax_alone, {"layers"}},
      {any_loop, {"passes", "layers"}},
      {gpu_unknown, {"gpu"}},
      {several_gpus, {"gpus"}},
      {no_peak_of_format, {"format", "gpu"}},
      {step_tokens_unknown, {"known_steps", "steps"}},
      {no_cost_formula, {"stage"}},
      {impossible_figure,
       {"figure", "stage", "time", "share", "weights_dtype", "kv_cache_dtype", "tp", "pp", "ep"}},
      {depends_on_impossible_figure,
       {"figure", "stage", "time", "share", "weights_dtype", "kv_cache_dtype", "tp", "pp", "ep"}},
      {above_measured_peak, {"time", "share"}},
      {above_measured_bandwidth, {"time", "share", "stage"}},
      {prefill_pass, {"prompt_tokens", "batch"}},
      {decode_passes, {"steps", "first_context", "last_context", "prompt_tokens", "batch"}},
      {engine_steps, {"steps", "tokens_per_step"}},
      {engine_steps_in_context, {"steps", "tokens_per_step", "contexts_per_step"}},
      {recorded_operators, {"operators_with_work", "operators", "instances"}},
      {traced_steps_on_busy_time, {"steps_traced", "steps"}},
      {flops_at_peak, {"flops", "peak_flops", "peak"}},
      {bytes_at_peak, {"bytes", "peak_bandwidth", "bytes_are"}},
      {own_flops_at_peak, {"peak_flops", "format"}},
      {own_bytes_at_peak, {"peak_bandwidth"}},
      {bound_by_ncu, {"bound_share_of_peak"}},
      {bound_by_counters, {"bound_share_of_peak", "share_of_sample"}},
      {bound_by_recorded_work, {"bound_share_of_peak"}},
      {flops_not_counted, {"kernels_without", "kernels"}},
      {bytes_not_counted, {"kernels_without", "kernels"}},
      {throughput_not_measured, {"kernels_without", "kernels"}},
      {shorter_than_samples, {"kernels_without", "kernels", "interval", "share_of_sample"}},
      {few_counter_samples, {"share_of_wall"}},
      {impossible_bandwidth, {"share"}},
      {sensors_read_rarely, {"time_between_readings"}},
      {layers_in_hidden_graphs, {"stage"}},
      {stage_without_kernels, {"stage"}},
      {layer_steps_unknown, {"stage"}},
      {layers_not_repeating, {"stage"}},
      {unlike_median_layer, {"kernels_per_pass", "median_kernels_per_pass"}},
      {few_tracing_windows, {"windows_needed", "traced_windows", "untraced_windows"}},
      {slow_step_rule,
       {"share_above_median", "deviations_above_median", "comparable_steps", "times_the_median"}},
      {longer_work, {"work", "calls"}},
      {longer_gap, {"work", "calls"}},
      {longer_small_gaps, {"gaps"}},
      {host_call, {"call"}},
      {host_operator, {"operator"}},
      {host_code, {"between_operators"}},
      {host_launched_ahead, {"before_gap"}},
      {host_launched_before, {"before_start"}},
      {mixed_steps_by_tokens, {"steps"}},
      {ranks_without_collectives, {"ranks"}},
      {collectives_not_matched, {"collectives"}},
      {parallelism_set, {"option", "size"}, "", "parallelism_told"},
      {only_point_to_point, {"collectives"}},
      {mostly_all_to_all, {"share"}},
      {collectives_in_each_layer, {"per_step"}},
      {collectives_once_per_step, {"per_step"}},
      {communication_behind_compute, {"share"}},
      {parallelism_not_clear, {"collectives"}},
      {rank_busy_longer, {"busy", "busy_of_others", "longer", "by_step"}},
      {rank_launched_later, {"later", "by_step"}},
      {rank_more_tokens, {"tokens", "tokens_of_others"}},
      {rank_lower_clock, {"clock", "clock_of_others"}},
      {rank_slower_steps, {"step", "step_of_others"}},
      {rank_single_delays, {"delays", "longest"}},
  });
}

// Why a figure is missing, what it was computed from, or by which rule: a kind, and the values in
// the sentence next to it.
struct Reason {
  ReasonKind kind{};
  std::vector<FindingValue> values;

  void fields(auto& field) const {
    field("kind", kind, "stable kind, for scripts");
    field("values", values, "values in the sentence, by name");
  }
};

// In the order of the sentence.
using Reasons = std::vector<Reason>;

inline Reason make_reason(ReasonKind kind, FindingValues values = {}) {
  return {kind, std::move(values).take()};
}

}  // namespace llmprof::profile
