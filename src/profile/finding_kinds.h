#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "profile/vocabulary.h"

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

// Its name, what it means, and the names of the values that each finding of this kind has; it may
// have others beside them.
struct FindingKindWord {
  FindingKind value;
  std::string_view name;
  std::string_view meaning;
  std::span<const std::string_view> values;
};

namespace finding_values {
inline constexpr std::string_view kHidden[] = {"replays", "hidden_time",
                                               "hidden_share_of_gpu_time"};
inline constexpr std::string_view kStallRepeated[] = {
    "gaps", "mean_gap", "work_before", "work_after", "longest_gap", "host", "decodes"};
inline constexpr std::string_view kStallSingle[] = {
    "stalls", "stalled", "instances_with_stall", "instances", "longest_gap", "work_after", "host"};
inline constexpr std::string_view kLaunch[] = {"gaps_per_instance",
                                               "share_in_cuda_calls",
                                               "share_in_host_code",
                                               "kernels_per_pass",
                                               "pass",
                                               "graphs_used",
                                               "decodes",
                                               "compiled"};
inline constexpr std::string_view kBetween[] = {"gap_per_step", "steps_per_instance"};
inline constexpr std::string_view kSynchronization[] = {"gaps_per_instance"};
inline constexpr std::string_view kQueue[] = {"gaps_per_instance", "mean_gap", "kernels_per_pass",
                                              "pass"};
inline constexpr std::string_view kFloor[] = {"bound_by", "kernel_time", "kernel_calls"};
inline constexpr std::string_view kAttention[] = {"kernel_time", "kernel_calls"};
inline constexpr std::string_view kKernels[] = {"kernel_time", "kernel_calls"};
inline constexpr std::string_view kSmall[] = {"kernels_per_pass", "pass",         "mean_kernel",
                                              "kernel_time",      "kernel_calls", "compiled"};
inline constexpr std::string_view kRouting[] = {"kernels_per_pass", "pass", "mean_kernel",
                                                "kernel_time", "kernel_calls"};
inline constexpr std::string_view kCommunication[] = {
    "communication_time", "kernels_per_pass", "pass", "mean_kernel", "kernel_time", "kernel_calls"};
inline constexpr std::string_view kCopies[] = {"copies_per_instance", "bytes_per_instance"};
inline constexpr std::string_view kClocks[] = {"mean_clock", "lowest_clock", "highest_clock",
                                               "samples", "maximum_clock"};
inline constexpr std::string_view kSteps[] = {"slow_steps", "steps", "median_step",
                                              "slowest_above_median", "only_first_steps"};
inline constexpr std::string_view kLatency[] = {"kernel_names", "launches_measured", "launches",
                                                "kernel_share_of_roof"};
inline constexpr std::string_view kOutside[] = {"gaps_per_instance"};
inline constexpr std::string_view kStraggler[] = {"rank", "cause", "wait_per_step", "wait_total",
                                                  "last_share"};
inline constexpr std::string_view kBubble[] = {"bubble_share", "pipeline_stages"};
inline constexpr std::string_view kExperts[] = {"imbalance", "rank"};
inline constexpr std::string_view kLink[] = {"group",     "collective",     "message",      "link",
                                             "bandwidth", "peak_bandwidth", "share_of_peak"};
}  // namespace finding_values

constexpr auto words_of(FindingKind /*of*/) {
  using enum FindingKind;
  using namespace finding_values;
  return one_per_value<FindingKind, FindingKindWord>({
      {hidden_graphs, "hidden_graphs",
       "CUDA graphs whose kernels the capture does not show; no potential saving is known",
       kHidden},
      {host_stall_repeated, "host_stall_repeated",
       "long gaps at the same place of the stage, each time while the host is late",
       kStallRepeated},
      {host_stall_single, "host_stall_single",
       "long gaps that do not come back at the same place, while the host is late", kStallSingle},
      {launch_bound, "launch_bound",
       "the GPU idles because kernels are launched late, stalls excluded", kLaunch},
      {gap_between_steps, "gap_between_steps",
       "the GPU idles from one step's last work to the next step's first launch", kBetween},
      {synchronization, "synchronization",
       "the GPU idles because the host waited for it before launching more", kSynchronization},
      {queue_gaps, "queue_gaps", "gaps between kernels that were launched in time", kQueue},
      {first_work_queued,
       "first_work_queued",
       "the stage's first GPU work was launched, and the GPU was not free",
       {}},
      {idle_before_first_work,
       "idle_before_first_work",
       "from the stage's start to its first GPU work",
       {}},
      {idle_after_last_work,
       "idle_after_last_work",
       "from the stage's last GPU work to its end",
       {}},
      {gemm_above_floor, "gemm_above_floor",
       "time of GEMMs (on a GPU, of GEMVs, too) above their floor", kFloor},
      {gemv_above_floor, "gemv_above_floor", "time of a CPU's GEMVs above their floor", kFloor},
      {attention_above_floor, "attention_above_floor", "time of attention above its floor",
       kAttention},
      {small_kernels, "small_kernels", "GPU kernels that can be fused with their neighbors",
       kSmall},
      {fusible_norm, "fusible_norm", "a CPU's normalization that can be fused", kKernels},
      {fusible_rope, "fusible_rope", "a CPU's position embedding that can be fused", kKernels},
      {fusible_elementwise, "fusible_elementwise",
       "a CPU's element-wise operators that can be fused", kKernels},
      {copies_and_casts, "copies_and_casts", "kernels that copy or convert", kKernels},
      {token_selection, "token_selection", "kernels that choose the next token", kKernels},
      {expert_routing, "expert_routing", "kernels that choose experts and order tokens for them",
       kRouting},
      {exposed_communication, "exposed_communication", "communication that no computation overlaps",
       kCommunication},
      {exposed_copies, "exposed_copies", "copies and fills while no kernel runs", kCopies},
      {low_clocks, "low_clocks",
       "the SM clock is far below the GPU's maximum, or was lowered by heat or power", kClocks},
      {slow_steps, "slow_steps", "steps that take clearly longer than the median step", kSteps},
      {latency_bound_kernels, "latency_bound_kernels",
       "kernels that reach neither the compute nor the memory roof, as measured by ncu", kLatency},
      {time_outside_operators, "time_outside_operators",
       "a CPU stage's time in which no recorded operator runs", kOutside},
      {straggler, "straggler", "a rank of a job that others wait for in collectives", kStraggler},
      {pipeline_bubble, "pipeline_bubble", "ranks idle because another stage of the pipeline works",
       kBubble},
      {expert_imbalance, "expert_imbalance",
       "one rank's experts take clearly longer than the others'", kExperts},
      {slow_link, "slow_link",
       "collectives of large messages far below the peak bandwidth of their link", kLink},

  });
}

}  // namespace llmprof::profile
