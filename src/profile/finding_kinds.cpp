#include "profile/finding_kinds.h"

#include <algorithm>
#include <array>

namespace llmprof::profile {
namespace {

using Kind = FindingKind;
using Names = std::string_view;

constexpr Names kHidden[] = {"replays", "hidden_time", "hidden_share_of_gpu_time"};
constexpr Names kStallRepeated[] = {"gaps",        "mean_gap", "work_before", "work_after",
                                    "longest_gap", "host",     "decodes"};
constexpr Names kStallSingle[] = {
    "stalls", "stalled", "instances_with_stall", "instances", "longest_gap", "work_after", "host"};
constexpr Names kLaunch[] = {"gaps_per_instance",
                             "share_in_cuda_calls",
                             "share_in_host_code",
                             "kernels_per_pass",
                             "pass",
                             "graphs_used",
                             "decodes",
                             "compiled"};
constexpr Names kBetween[] = {"gap_per_step", "steps_per_instance"};
constexpr Names kSynchronization[] = {"gaps_per_instance"};
constexpr Names kQueue[] = {"gaps_per_instance", "mean_gap", "kernels_per_pass", "pass"};
constexpr Names kFloor[] = {"bound_by", "kernel_time", "kernel_calls"};
constexpr Names kAttention[] = {"kernel_time", "kernel_calls"};
constexpr Names kKernels[] = {"kernel_time", "kernel_calls"};
constexpr Names kSmall[] = {"kernels_per_pass", "pass",         "mean_kernel",
                            "kernel_time",      "kernel_calls", "compiled"};
constexpr Names kRouting[] = {"kernels_per_pass", "pass", "mean_kernel", "kernel_time",
                              "kernel_calls"};
constexpr Names kCommunication[] = {"communication_time", "kernels_per_pass", "pass",
                                    "mean_kernel",        "kernel_time",      "kernel_calls"};
constexpr Names kCopies[] = {"copies_per_instance", "bytes_per_instance"};
constexpr Names kClocks[] = {"mean_clock", "lowest_clock", "highest_clock", "samples",
                             "maximum_clock"};
constexpr Names kSteps[] = {"slow_steps", "steps", "median_step", "slowest_above_median",
                            "only_first_steps"};
constexpr Names kLatency[] = {"kernel_names", "launches_measured", "launches",
                              "kernel_share_of_roof"};
constexpr Names kOutside[] = {"gaps_per_instance"};
constexpr Names kStraggler[] = {"rank", "cause", "wait_per_step", "wait_total", "last_share"};
constexpr Names kBubble[] = {"bubble_share", "pipeline_stages"};
constexpr Names kExperts[] = {"imbalance", "rank"};
constexpr Names kLink[] = {"group",     "collective",     "message",      "link",
                           "bandwidth", "peak_bandwidth", "share_of_peak"};

constexpr std::array<FindingKindDescription, 30> kKinds = {{
    {Kind::hidden_graphs, "hidden_graphs",
     "CUDA graphs whose kernels the capture does not show; no potential saving is known", kHidden},
    {Kind::host_stall_repeated, "host_stall_repeated",
     "long gaps at the same place of the stage, each time while the host is late", kStallRepeated},
    {Kind::host_stall_single, "host_stall_single",
     "long gaps that do not come back at the same place, while the host is late", kStallSingle},
    {Kind::launch_bound, "launch_bound",
     "the GPU idles because kernels are launched late, stalls excluded", kLaunch},
    {Kind::gap_between_steps, "gap_between_steps",
     "the GPU idles from one step's last work to the next step's first launch", kBetween},
    {Kind::synchronization, "synchronization",
     "the GPU idles because the host waited for it before launching more", kSynchronization},
    {Kind::queue_gaps, "queue_gaps", "gaps between kernels that were launched in time", kQueue},
    {Kind::first_work_queued,
     "first_work_queued",
     "the stage's first GPU work was launched, and the GPU was not free",
     {}},
    {Kind::idle_before_first_work,
     "idle_before_first_work",
     "from the stage's start to its first GPU work",
     {}},
    {Kind::idle_after_last_work,
     "idle_after_last_work",
     "from the stage's last GPU work to its end",
     {}},
    {Kind::gemm_above_floor, "gemm_above_floor",
     "time of GEMMs (on a GPU, of GEMVs, too) above their floor", kFloor},
    {Kind::gemv_above_floor, "gemv_above_floor", "time of a CPU's GEMVs above their floor", kFloor},
    {Kind::attention_above_floor, "attention_above_floor", "time of attention above its floor",
     kAttention},
    {Kind::small_kernels, "small_kernels", "GPU kernels that can be fused with their neighbors",
     kSmall},
    {Kind::fusible_norm, "fusible_norm", "a CPU's normalization that can be fused", kKernels},
    {Kind::fusible_rope, "fusible_rope", "a CPU's position embedding that can be fused", kKernels},
    {Kind::fusible_elementwise, "fusible_elementwise",
     "a CPU's element-wise operators that can be fused", kKernels},
    {Kind::copies_and_casts, "copies_and_casts", "kernels that copy or convert", kKernels},
    {Kind::token_selection, "token_selection", "kernels that choose the next token", kKernels},
    {Kind::expert_routing, "expert_routing",
     "kernels that choose experts and order tokens for them", kRouting},
    {Kind::exposed_communication, "exposed_communication",
     "communication that no computation overlaps", kCommunication},
    {Kind::exposed_copies, "exposed_copies", "copies and fills while no kernel runs", kCopies},
    {Kind::low_clocks, "low_clocks",
     "the SM clock is far below the GPU's maximum, or was lowered by heat or power", kClocks},
    {Kind::slow_steps, "slow_steps", "steps that take clearly longer than the median step", kSteps},
    {Kind::latency_bound_kernels, "latency_bound_kernels",
     "kernels that reach neither the compute nor the memory roof, as measured by ncu", kLatency},
    {Kind::time_outside_operators, "time_outside_operators",
     "a CPU stage's time in which no recorded operator runs", kOutside},
    {Kind::straggler, "straggler", "a rank of a job that others wait for in collectives",
     kStraggler},
    {Kind::pipeline_bubble, "pipeline_bubble",
     "ranks idle because another stage of the pipeline works", kBubble},
    {Kind::expert_imbalance, "expert_imbalance",
     "one rank's experts take clearly longer than the others'", kExperts},
    {Kind::slow_link, "slow_link",
     "collectives of large messages far below the peak bandwidth of their link", kLink},
}};

constexpr bool is_in_order() {
  for (size_t i = 0; i < kKinds.size(); ++i) {
    if (static_cast<size_t>(kKinds[i].kind) != i) return false;
  }
  return true;
}
static_assert(is_in_order());

}  // namespace

std::span<const FindingKindDescription> finding_kinds() { return kKinds; }

std::string_view to_string(FindingKind kind) { return kKinds[static_cast<size_t>(kind)].name; }

std::optional<FindingKind> finding_kind(std::string_view name) {
  const auto* found = std::find_if(kKinds.begin(), kKinds.end(),
                                   [&](const auto& known) { return known.name == name; });
  if (found == kKinds.end()) return std::nullopt;
  return found->kind;
}

}  // namespace llmprof::profile
