#include "profile/reason_kinds.h"

#include <algorithm>
#include <array>

namespace llmprof::profile {
namespace {

constexpr std::string_view kGpuUnknown[] = {"gpu"};
constexpr std::string_view kSeveralGpus[] = {"gpus"};
constexpr std::string_view kNoPeakOfFormat[] = {"format", "gpu"};
constexpr std::string_view kStepTokensUnknown[] = {"known_steps", "steps"};
constexpr std::string_view kOfStage[] = {"stage"};
constexpr std::string_view kImpossible[] = {
    "figure", "stage", "time", "share", "weights_dtype", "kv_cache_dtype", "tp", "pp", "ep"};
constexpr std::string_view kAboveMeasuredPeak[] = {"time", "share"};
constexpr std::string_view kAboveMeasuredBandwidth[] = {"time", "share", "stage"};
constexpr std::string_view kPrefillPass[] = {"prompt_tokens", "batch"};
constexpr std::string_view kDecodePasses[] = {"steps", "first_context", "last_context",
                                              "prompt_tokens", "batch"};
constexpr std::string_view kEngineSteps[] = {"steps", "tokens_per_step"};
constexpr std::string_view kStepsInContext[] = {"steps", "tokens_per_step", "contexts_per_step"};
constexpr std::string_view kRecordedOperators[] = {"operators_with_work", "operators", "instances"};
constexpr std::string_view kTracedStepsOnBusyTime[] = {"steps_traced", "steps"};
constexpr std::string_view kFlopsAtPeak[] = {"flops", "peak_flops", "peak"};
constexpr std::string_view kBytesAtPeak[] = {"bytes", "peak_bandwidth", "bytes_are"};
constexpr std::string_view kOwnFlopsAtPeak[] = {"peak_flops", "format"};
constexpr std::string_view kOwnBytesAtPeak[] = {"peak_bandwidth"};
constexpr std::string_view kBoundRule[] = {"bound_share_of_peak"};
constexpr std::string_view kBoundByCounters[] = {"bound_share_of_peak", "share_of_sample"};
constexpr std::string_view kKernelsWithout[] = {"kernels_without", "kernels"};
constexpr std::string_view kShorterThanSamples[] = {"kernels_without", "kernels", "interval",
                                                    "share_of_sample"};
constexpr std::string_view kFewCounterSamples[] = {"share_of_wall"};
constexpr std::string_view kImpossibleBandwidth[] = {"share"};
constexpr std::string_view kSensorsReadRarely[] = {"time_between_readings"};
constexpr std::string_view kUnlikeMedianLayer[] = {"kernels_per_pass", "median_kernels_per_pass"};
constexpr std::string_view kWindows[] = {"windows_needed", "traced_windows", "untraced_windows"};
constexpr std::string_view kSlowStepRule[] = {"share_above_median", "deviations_above_median",
                                              "comparable_steps", "times_the_median"};

constexpr std::string_view kLonger[] = {"work", "calls"};
constexpr std::string_view kGapCount[] = {"gaps"};
constexpr std::string_view kCall[] = {"call"};
constexpr std::string_view kOperator[] = {"operator"};
constexpr std::string_view kHostCode[] = {"between_operators"};
constexpr std::string_view kAhead[] = {"before_gap"};
constexpr std::string_view kBefore[] = {"before_start"};

constexpr std::string_view kRanks[] = {"ranks"};
constexpr std::string_view kParallelismTold[] = {"option", "size"};
constexpr std::string_view kCollectives[] = {"collectives"};
constexpr std::string_view kShareOfTime[] = {"share"};
constexpr std::string_view kPerStep[] = {"per_step"};
constexpr std::string_view kBusyLonger[] = {"busy", "busy_of_others", "longer", "by_step"};
constexpr std::string_view kLaunchedLater[] = {"later", "by_step"};
constexpr std::string_view kMoreTokens[] = {"tokens", "tokens_of_others"};
constexpr std::string_view kLowerClock[] = {"clock", "clock_of_others"};
constexpr std::string_view kSlowerSteps[] = {"step", "step_of_others"};
constexpr std::string_view kSingleDelays[] = {"delays", "longest"};

constexpr auto kReasonKinds = std::to_array<ReasonKindDescription>({
    {ReasonKind::no_stages, "no_stages", {}},
    {ReasonKind::no_model, "no_model", {}},
    {ReasonKind::no_model_given, "no_model_given", {}},
    {ReasonKind::gpu_not_named, "gpu_not_named", {}},
    {ReasonKind::gpu_unknown, "gpu_unknown", kGpuUnknown},
    {ReasonKind::cpu_peaks_unknown, "cpu_peaks_unknown", {}},
    {ReasonKind::all_warmup, "all_warmup", {}},
    {ReasonKind::several_gpus, "several_gpus", kSeveralGpus},
    {ReasonKind::no_peak_of_format, "no_peak_of_format", kNoPeakOfFormat},
    {ReasonKind::contexts_unknown, "contexts_unknown", {}},
    {ReasonKind::busy_time_untraced, "busy_time_untraced", {}},
    {ReasonKind::work_not_recorded, "work_not_recorded", {}},
    {ReasonKind::prompt_tokens_unknown, "prompt_tokens_unknown", {}},
    {ReasonKind::decode_steps_unknown, "decode_steps_unknown", {}},
    {ReasonKind::step_tokens_unknown, "step_tokens_unknown", kStepTokensUnknown},
    {ReasonKind::no_cost_formula, "no_cost_formula", kOfStage},
    {ReasonKind::impossible_figure, "impossible_figure", kImpossible},
    {ReasonKind::depends_on_impossible_figure, "depends_on_impossible_figure", kImpossible},
    {ReasonKind::above_measured_peak, "above_measured_peak", kAboveMeasuredPeak},
    {ReasonKind::above_measured_bandwidth, "above_measured_bandwidth", kAboveMeasuredBandwidth},
    {ReasonKind::slightly_above_measured, "slightly_above_measured", {}},
    {ReasonKind::prefill_pass, "prefill_pass", kPrefillPass},
    {ReasonKind::decode_passes, "decode_passes", kDecodePasses},
    {ReasonKind::engine_steps, "engine_steps", kEngineSteps},
    {ReasonKind::engine_steps_in_context, "engine_steps_in_context", kStepsInContext},
    {ReasonKind::recorded_operators, "recorded_operators", kRecordedOperators},
    {ReasonKind::traced_steps_on_busy_time, "traced_steps_on_busy_time", kTracedStepsOnBusyTime},
    {ReasonKind::flops_at_peak, "flops_at_peak", kFlopsAtPeak},
    {ReasonKind::bytes_at_peak, "bytes_at_peak", kBytesAtPeak},
    {ReasonKind::own_flops_at_peak, "own_flops_at_peak", kOwnFlopsAtPeak},
    {ReasonKind::own_bytes_at_peak, "own_bytes_at_peak", kOwnBytesAtPeak},
    {ReasonKind::zero_overlaps_computation, "zero_overlaps_computation", {}},
    {ReasonKind::zero_copy_avoidable, "zero_copy_avoidable", {}},
    {ReasonKind::zero_small_beside_output_head, "zero_small_beside_output_head", {}},
    {ReasonKind::zero_fusible_into_experts, "zero_fusible_into_experts", {}},
    {ReasonKind::zero_fusible_into_products, "zero_fusible_into_products", {}},
    {ReasonKind::zero_copies_overlap_kernels, "zero_copies_overlap_kernels", {}},
    {ReasonKind::zero_fewer_kernels, "zero_fewer_kernels", {}},
    {ReasonKind::zero_idle_gpu, "zero_idle_gpu", {}},
    {ReasonKind::zero_outside_operators, "zero_outside_operators", {}},
    {ReasonKind::own_time_unknown_kernels, "own_time_unknown_kernels", {}},
    {ReasonKind::own_time_hidden_graphs, "own_time_hidden_graphs", {}},
    {ReasonKind::own_time_unknown_cause, "own_time_unknown_cause", {}},
    {ReasonKind::own_time_without_floor, "own_time_without_floor", {}},
    {ReasonKind::bound_by_ncu, "bound_by_ncu", kBoundRule},
    {ReasonKind::bound_by_counters, "bound_by_counters", kBoundByCounters},
    {ReasonKind::bound_by_recorded_work, "bound_by_recorded_work", kBoundRule},
    {ReasonKind::no_kernel_metrics, "no_kernel_metrics", {}},
    {ReasonKind::flops_not_counted, "flops_not_counted", kKernelsWithout},
    {ReasonKind::bytes_not_counted, "bytes_not_counted", kKernelsWithout},
    {ReasonKind::throughput_not_measured, "throughput_not_measured", kKernelsWithout},
    {ReasonKind::shorter_than_samples, "shorter_than_samples", kShorterThanSamples},
    {ReasonKind::operators_without_work, "operators_without_work", {}},
    {ReasonKind::bound_needs_cpu_peaks, "bound_needs_cpu_peaks", {}},
    {ReasonKind::few_counter_samples, "few_counter_samples", kFewCounterSamples},
    {ReasonKind::no_counter_samples, "no_counter_samples", {}},
    {ReasonKind::impossible_bandwidth, "impossible_bandwidth", kImpossibleBandwidth},
    {ReasonKind::sensors_read_rarely, "sensors_read_rarely", kSensorsReadRarely},
    {ReasonKind::trace_without_operators, "trace_without_operators", {}},
    {ReasonKind::no_framework_operators, "no_framework_operators", {}},
    {ReasonKind::layers_in_hidden_graphs, "layers_in_hidden_graphs", kOfStage},
    {ReasonKind::stage_without_kernels, "stage_without_kernels", kOfStage},
    {ReasonKind::layer_steps_unknown, "layer_steps_unknown", kOfStage},
    {ReasonKind::layers_not_repeating, "layers_not_repeating", kOfStage},
    {ReasonKind::unlike_median_layer, "unlike_median_layer", kUnlikeMedianLayer},
    {ReasonKind::few_tracing_windows, "few_tracing_windows", kWindows},
    {ReasonKind::slow_step_rule, "slow_step_rule", kSlowStepRule},
    {ReasonKind::longer_work, "longer_work", kLonger},
    {ReasonKind::longer_gap, "longer_gap", kLonger},
    {ReasonKind::longer_small_gaps, "longer_small_gaps", kGapCount},
    {ReasonKind::longer_unexplained, "longer_unexplained", {}},
    {ReasonKind::shorter_other_parts, "shorter_other_parts", {}},
    {ReasonKind::host_call, "host_call", kCall},
    {ReasonKind::host_operator, "host_operator", kOperator},
    {ReasonKind::host_code, "host_code", kHostCode},
    {ReasonKind::host_launched_graph, "host_launched_graph", {}},
    {ReasonKind::host_launched_ahead, "host_launched_ahead", kAhead},
    {ReasonKind::host_launched_before, "host_launched_before", kBefore},
    {ReasonKind::host_not_recorded, "host_not_recorded", {}},
    {ReasonKind::one_rank_recorded, "one_rank_recorded", {}},
    {ReasonKind::ranks_without_collectives, "ranks_without_collectives", kRanks},
    {ReasonKind::collectives_not_matched, "collectives_not_matched", kCollectives},
    {ReasonKind::parallelism_told, "parallelism_told", kParallelismTold},
    {ReasonKind::only_point_to_point, "only_point_to_point", kCollectives},
    {ReasonKind::mostly_all_to_all, "mostly_all_to_all", kShareOfTime},
    {ReasonKind::collectives_in_each_layer, "collectives_in_each_layer", kPerStep},
    {ReasonKind::collectives_once_per_step, "collectives_once_per_step", kPerStep},
    {ReasonKind::communication_behind_compute, "communication_behind_compute", kShareOfTime},
    {ReasonKind::parallelism_not_clear, "parallelism_not_clear", kCollectives},
    {ReasonKind::rank_busy_longer, "rank_busy_longer", kBusyLonger},
    {ReasonKind::rank_launched_later, "rank_launched_later", kLaunchedLater},
    {ReasonKind::rank_more_tokens, "rank_more_tokens", kMoreTokens},
    {ReasonKind::rank_lower_clock, "rank_lower_clock", kLowerClock},
    {ReasonKind::rank_slower_steps, "rank_slower_steps", kSlowerSteps},
    {ReasonKind::rank_single_delays, "rank_single_delays", kSingleDelays},
    {ReasonKind::rank_cause_not_seen, "rank_cause_not_seen", {}},
});

constexpr bool reasons_are_in_order() {
  for (size_t i = 0; i < kReasonKinds.size(); ++i) {
    if (static_cast<size_t>(kReasonKinds[i].kind) != i) return false;
  }
  return kReasonKinds.back().kind == ReasonKind::rank_cause_not_seen;
}
static_assert(reasons_are_in_order());

}  // namespace

std::span<const ReasonKindDescription> reason_kinds() { return kReasonKinds; }

std::string_view to_string(ReasonKind kind) { return kReasonKinds[static_cast<size_t>(kind)].name; }

std::optional<ReasonKind> reason_kind(std::string_view name) {
  const auto* found = std::find_if(kReasonKinds.begin(), kReasonKinds.end(),
                                   [&](const auto& known) { return known.name == name; });
  if (found == kReasonKinds.end()) return std::nullopt;
  return found->kind;
}

}  // namespace llmprof::profile
