#pragma once

#include "report/findings/evidence.h"

namespace llmprof::report {

// One function per kind, in one file per theme. Numbers first, then what they mean; advice fits the
// program that was seen.

// idle_words.cpp: the GPU waits.
FindingWords host_stall_repeated_words(const Evidence& evidence);
FindingWords host_stall_single_words(const Evidence& evidence);
FindingWords launch_bound_words(const Evidence& evidence);
FindingWords gap_between_steps_words(const Evidence& evidence);
FindingWords synchronization_words(const Evidence& evidence);
FindingWords queue_gaps_words(const Evidence& evidence);
FindingWords first_work_queued_words(const Evidence& evidence);
FindingWords idle_before_first_work_words(const Evidence& evidence);
FindingWords idle_after_last_work_words(const Evidence& evidence);

// floor_words.cpp: kernels with a floor from the model's cost.
FindingWords gemm_above_floor_words(const Evidence& evidence);
FindingWords gemv_above_floor_words(const Evidence& evidence);
FindingWords attention_above_floor_words(const Evidence& evidence);

// fusion_words.cpp: kernels whose floor is 0.
FindingWords small_kernels_words(const Evidence& evidence);
FindingWords fusible_norm_words(const Evidence& evidence);
FindingWords fusible_rope_words(const Evidence& evidence);
FindingWords fusible_elementwise_words(const Evidence& evidence);
FindingWords copies_and_casts_words(const Evidence& evidence);
FindingWords token_selection_words(const Evidence& evidence);
FindingWords expert_routing_words(const Evidence& evidence);

// transfer_words.cpp
FindingWords exposed_communication_words(const Evidence& evidence);
FindingWords exposed_copies_words(const Evidence& evidence);

// job_words.cpp: between the ranks of a job.
FindingWords straggler_words(const Evidence& evidence);
FindingWords job_communication_words(const Evidence& evidence);
FindingWords pipeline_bubble_words(const Evidence& evidence);
FindingWords expert_imbalance_words(const Evidence& evidence);
FindingWords slow_link_words(const Evidence& evidence);

// measurement_words.cpp: what counters, ncu, steps and the capture itself tell.
FindingWords hidden_graphs_words(const Evidence& evidence);
FindingWords low_clocks_words(const Evidence& evidence);
FindingWords slow_steps_words(const Evidence& evidence);
FindingWords latency_bound_kernels_words(const Evidence& evidence);
FindingWords time_outside_operators_words(const Evidence& evidence);

}  // namespace llmprof::report
