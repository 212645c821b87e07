#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "profile/vocabulary.h"

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

// Its name, and the names of the values that each reason of this kind has.
struct ReasonKindWord {
  ReasonKind value;
  std::string_view name;
  std::string_view meaning;
  std::span<const std::string_view> values;
};

namespace reason_values {
inline constexpr std::string_view kGpuUnknown[] = {"gpu"};
inline constexpr std::string_view kSeveralGpus[] = {"gpus"};
inline constexpr std::string_view kNoPeakOfFormat[] = {"format", "gpu"};
inline constexpr std::string_view kStepTokensUnknown[] = {"known_steps", "steps"};
inline constexpr std::string_view kOfStage[] = {"stage"};
inline constexpr std::string_view kImpossible[] = {
    "figure", "stage", "time", "share", "weights_dtype", "kv_cache_dtype", "tp", "pp", "ep"};
inline constexpr std::string_view kAboveMeasuredPeak[] = {"time", "share"};
inline constexpr std::string_view kAboveMeasuredBandwidth[] = {"time", "share", "stage"};
inline constexpr std::string_view kPrefillPass[] = {"prompt_tokens", "batch"};
inline constexpr std::string_view kDecodePasses[] = {"steps", "first_context", "last_context",
                                                     "prompt_tokens", "batch"};
inline constexpr std::string_view kEngineSteps[] = {"steps", "tokens_per_step"};
inline constexpr std::string_view kStepsInContext[] = {"steps", "tokens_per_step",
                                                       "contexts_per_step"};
inline constexpr std::string_view kRecordedOperators[] = {"operators_with_work", "operators",
                                                          "instances"};
inline constexpr std::string_view kTracedStepsOnBusyTime[] = {"steps_traced", "steps"};
inline constexpr std::string_view kFlopsAtPeak[] = {"flops", "peak_flops", "peak"};
inline constexpr std::string_view kBytesAtPeak[] = {"bytes", "peak_bandwidth", "bytes_are"};
inline constexpr std::string_view kOwnFlopsAtPeak[] = {"peak_flops", "format"};
inline constexpr std::string_view kOwnBytesAtPeak[] = {"peak_bandwidth"};
inline constexpr std::string_view kBoundRule[] = {"bound_share_of_peak"};
inline constexpr std::string_view kBoundByCounters[] = {"bound_share_of_peak", "share_of_sample"};
inline constexpr std::string_view kKernelsWithout[] = {"kernels_without", "kernels"};
inline constexpr std::string_view kShorterThanSamples[] = {"kernels_without", "kernels", "interval",
                                                           "share_of_sample"};
inline constexpr std::string_view kFewCounterSamples[] = {"share_of_wall"};
inline constexpr std::string_view kImpossibleBandwidth[] = {"share"};
inline constexpr std::string_view kSensorsReadRarely[] = {"time_between_readings"};
inline constexpr std::string_view kUnlikeMedianLayer[] = {"kernels_per_pass",
                                                          "median_kernels_per_pass"};
inline constexpr std::string_view kWindows[] = {"windows_needed", "traced_windows",
                                                "untraced_windows"};
inline constexpr std::string_view kSlowStepRule[] = {
    "share_above_median", "deviations_above_median", "comparable_steps", "times_the_median"};

inline constexpr std::string_view kLonger[] = {"work", "calls"};
inline constexpr std::string_view kGapCount[] = {"gaps"};
inline constexpr std::string_view kCall[] = {"call"};
inline constexpr std::string_view kOperator[] = {"operator"};
inline constexpr std::string_view kHostCode[] = {"between_operators"};
inline constexpr std::string_view kAhead[] = {"before_gap"};
inline constexpr std::string_view kBefore[] = {"before_start"};

inline constexpr std::string_view kRanks[] = {"ranks"};
inline constexpr std::string_view kParallelismTold[] = {"option", "size"};
inline constexpr std::string_view kCollectives[] = {"collectives"};
inline constexpr std::string_view kShareOfTime[] = {"share"};
inline constexpr std::string_view kPerStep[] = {"per_step"};
inline constexpr std::string_view kBusyLonger[] = {"busy", "busy_of_others", "longer", "by_step"};
inline constexpr std::string_view kLaunchedLater[] = {"later", "by_step"};
inline constexpr std::string_view kMoreTokens[] = {"tokens", "tokens_of_others"};
inline constexpr std::string_view kLowerClock[] = {"clock", "clock_of_others"};
inline constexpr std::string_view kSlowerSteps[] = {"step", "step_of_others"};
inline constexpr std::string_view kSingleDelays[] = {"delays", "longest"};
}  // namespace reason_values

constexpr auto words_of(ReasonKind /*of*/) {
  using enum ReasonKind;
  using namespace reason_values;
  return one_per_value<ReasonKind, ReasonKindWord>({
      {no_stages, "no_stages", "", {}},
      {no_model, "no_model", "", {}},
      {no_model_given, "no_model_given", "", {}},
      {gpu_not_named, "gpu_not_named", "", {}},
      {gpu_unknown, "gpu_unknown", "", kGpuUnknown},
      {cpu_peaks_unknown, "cpu_peaks_unknown", "", {}},
      {all_warmup, "all_warmup", "", {}},
      {several_gpus, "several_gpus", "", kSeveralGpus},
      {no_peak_of_format, "no_peak_of_format", "", kNoPeakOfFormat},
      {contexts_unknown, "contexts_unknown", "", {}},
      {busy_time_untraced, "busy_time_untraced", "", {}},
      {work_not_recorded, "work_not_recorded", "", {}},
      {prompt_tokens_unknown, "prompt_tokens_unknown", "", {}},
      {decode_steps_unknown, "decode_steps_unknown", "", {}},
      {step_tokens_unknown, "step_tokens_unknown", "", kStepTokensUnknown},
      {no_cost_formula, "no_cost_formula", "", kOfStage},
      {impossible_figure, "impossible_figure", "", kImpossible},
      {depends_on_impossible_figure, "depends_on_impossible_figure", "", kImpossible},
      {above_measured_peak, "above_measured_peak", "", kAboveMeasuredPeak},
      {above_measured_bandwidth, "above_measured_bandwidth", "", kAboveMeasuredBandwidth},
      {slightly_above_measured, "slightly_above_measured", "", {}},
      {prefill_pass, "prefill_pass", "", kPrefillPass},
      {decode_passes, "decode_passes", "", kDecodePasses},
      {engine_steps, "engine_steps", "", kEngineSteps},
      {engine_steps_in_context, "engine_steps_in_context", "", kStepsInContext},
      {recorded_operators, "recorded_operators", "", kRecordedOperators},
      {traced_steps_on_busy_time, "traced_steps_on_busy_time", "", kTracedStepsOnBusyTime},
      {flops_at_peak, "flops_at_peak", "", kFlopsAtPeak},
      {bytes_at_peak, "bytes_at_peak", "", kBytesAtPeak},
      {own_flops_at_peak, "own_flops_at_peak", "", kOwnFlopsAtPeak},
      {own_bytes_at_peak, "own_bytes_at_peak", "", kOwnBytesAtPeak},
      {zero_overlaps_computation, "zero_overlaps_computation", "", {}},
      {zero_copy_avoidable, "zero_copy_avoidable", "", {}},
      {zero_small_beside_output_head, "zero_small_beside_output_head", "", {}},
      {zero_fusible_into_experts, "zero_fusible_into_experts", "", {}},
      {zero_fusible_into_products, "zero_fusible_into_products", "", {}},
      {zero_copies_overlap_kernels, "zero_copies_overlap_kernels", "", {}},
      {zero_fewer_kernels, "zero_fewer_kernels", "", {}},
      {zero_idle_gpu, "zero_idle_gpu", "", {}},
      {zero_outside_operators, "zero_outside_operators", "", {}},
      {own_time_unknown_kernels, "own_time_unknown_kernels", "", {}},
      {own_time_hidden_graphs, "own_time_hidden_graphs", "", {}},
      {own_time_unknown_cause, "own_time_unknown_cause", "", {}},
      {own_time_without_floor, "own_time_without_floor", "", {}},
      {bound_by_ncu, "bound_by_ncu", "", kBoundRule},
      {bound_by_counters, "bound_by_counters", "", kBoundByCounters},
      {bound_by_recorded_work, "bound_by_recorded_work", "", kBoundRule},
      {no_kernel_metrics, "no_kernel_metrics", "", {}},
      {flops_not_counted, "flops_not_counted", "", kKernelsWithout},
      {bytes_not_counted, "bytes_not_counted", "", kKernelsWithout},
      {throughput_not_measured, "throughput_not_measured", "", kKernelsWithout},
      {shorter_than_samples, "shorter_than_samples", "", kShorterThanSamples},
      {operators_without_work, "operators_without_work", "", {}},
      {bound_needs_cpu_peaks, "bound_needs_cpu_peaks", "", {}},
      {few_counter_samples, "few_counter_samples", "", kFewCounterSamples},
      {no_counter_samples, "no_counter_samples", "", {}},
      {impossible_bandwidth, "impossible_bandwidth", "", kImpossibleBandwidth},
      {sensors_read_rarely, "sensors_read_rarely", "", kSensorsReadRarely},
      {trace_without_operators, "trace_without_operators", "", {}},
      {no_framework_operators, "no_framework_operators", "", {}},
      {layers_in_hidden_graphs, "layers_in_hidden_graphs", "", kOfStage},
      {stage_without_kernels, "stage_without_kernels", "", kOfStage},
      {layer_steps_unknown, "layer_steps_unknown", "", kOfStage},
      {layers_not_repeating, "layers_not_repeating", "", kOfStage},
      {unlike_median_layer, "unlike_median_layer", "", kUnlikeMedianLayer},
      {few_tracing_windows, "few_tracing_windows", "", kWindows},
      {slow_step_rule, "slow_step_rule", "", kSlowStepRule},
      {longer_work, "longer_work", "", kLonger},
      {longer_gap, "longer_gap", "", kLonger},
      {longer_small_gaps, "longer_small_gaps", "", kGapCount},
      {longer_unexplained, "longer_unexplained", "", {}},
      {shorter_other_parts, "shorter_other_parts", "", {}},
      {host_call, "host_call", "", kCall},
      {host_operator, "host_operator", "", kOperator},
      {host_code, "host_code", "", kHostCode},
      {host_launched_graph, "host_launched_graph", "", {}},
      {host_launched_ahead, "host_launched_ahead", "", kAhead},
      {host_launched_before, "host_launched_before", "", kBefore},
      {host_not_recorded, "host_not_recorded", "", {}},
      {one_rank_recorded, "one_rank_recorded", "", {}},
      {ranks_without_collectives, "ranks_without_collectives", "", kRanks},
      {collectives_not_matched, "collectives_not_matched", "", kCollectives},
      {parallelism_told, "parallelism_told", "", kParallelismTold},
      {only_point_to_point, "only_point_to_point", "", kCollectives},
      {mostly_all_to_all, "mostly_all_to_all", "", kShareOfTime},
      {collectives_in_each_layer, "collectives_in_each_layer", "", kPerStep},
      {collectives_once_per_step, "collectives_once_per_step", "", kPerStep},
      {communication_behind_compute, "communication_behind_compute", "", kShareOfTime},
      {parallelism_not_clear, "parallelism_not_clear", "", kCollectives},
      {rank_busy_longer, "rank_busy_longer", "", kBusyLonger},
      {rank_launched_later, "rank_launched_later", "", kLaunchedLater},
      {rank_more_tokens, "rank_more_tokens", "", kMoreTokens},
      {rank_lower_clock, "rank_lower_clock", "", kLowerClock},
      {rank_slower_steps, "rank_slower_steps", "", kSlowerSteps},
      {rank_single_delays, "rank_single_delays", "", kSingleDelays},
      {rank_cause_not_seen, "rank_cause_not_seen", "", {}},
  });
}

}  // namespace llmprof::profile
