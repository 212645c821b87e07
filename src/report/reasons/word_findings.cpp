#include "report/reasons/word_reasons.h"

#include <string_view>

#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/reasons/fill_text.h"

namespace llmprof::report {
namespace {

// Parts that several texts share, filled from top to bottom: each may use those above it.
struct Phrase {
  std::string_view name;
  std::string_view text;
};
constexpr Phrase kPhrases[] = {
    {"saving",
     "up to {recoverable:ms} ms {per} ({share_of_wall:percent} of the stage's wall "
     "time[tracing_included?; tracing overhead included])"},
    {"and_longest_gap",
     "[longest_gap?; the longest gap is {longest_gap:ms} ms, host activity: {host}]"},
    {"kernels", "{kernels_per_pass:~kernel} [pass_is_unit?{per}][!pass_is_unit?per {pass}]"},
    {"kernel_counts", "{kernels} of {mean_kernel:exact_ms} ms on average"},
    {"longest_kernels",
     "[kernel_time?the longest[unit? {per}]: ][*kernel_time/, ?{kernel_time:source} "
     "{kernel_time:ms} ms in {kernel_calls:~call}]"},
    {"how_launched",
     "{kernels}, [graph_replays_per_instance?and {graph_replays_per_instance:~CUDA graph replay} "
     "{per}][!graph_replays_per_instance?[share_in_graphs>0?{share_in_graphs:percent}][!share_in_"
     "graphs>0?none] in CUDA graphs]"},
    {"above_floor",
     "{saving} above the floor[floor?: {time:ms} ms {per} against a floor of {floor:ms} ms "
     "({floor_rule})[time_over_floor?, {time_over_floor:ratio} times as long]; {kernel_counts}]; "
     "{longest_kernels}"},
    {"kernel_evidence", "{saving}[kernels_per_pass?: {kernel_counts}]; {longest_kernels}"},
    {"counted_twice", "; other findings may include the same time"},
    {"of_the_tail",
     "[*tail_part/?; of the slowest {tail_share:g%} of [@tail_part=ttft?times to first "
     "token][@tail_part=itl?gaps between tokens] (from {tail_from:ms} ms on) it is {tail_part:ms} "
     "of {tail_mean:ms} ms on average, and {tail_median:ms} ms around the median]"},
    {"of_gpu", "[share_of_gpu?; {share_of_gpu:percent} of the GPU's memory]"},
    {"of_requests",
     "up to {recoverable:ms} ms {per} ({share_of_wall:percent} of the time from sent to end of all "
     "requests), in {requests:plain} of {completed:~request}{of_the_tail}"},
};

// For CPUs; conf/engines has the advice for GPUs.
constexpr std::string_view kProductAdvice =
    "[on_cpu?[bound_by=memory?The weights are read below the memory bandwidth: read each row once, "
    "in long streams, on all cores (threads bound to cores, memory local to them, huge pages). "
    "Only fewer bytes (bf16 or int8 weights) or more tokens per pass (larger batch) lower the "
    "floor itself.][!bound_by=memory?Use a blocked GEMM that fits the caches and the widest vector "
    "unit of this CPU (its vendor's BLAS), on all cores.]]";

// In the syntax of fill_text. Numbers first, then what they mean; advice fits the recorded program,
// and is empty if conf/engines has it.
struct FindingTexts {
  FindingKind value;
  std::string_view title;
  std::string_view evidence;
  std::string_view advice = {};
};
constexpr auto kFindingTexts = [] {
  using enum FindingKind;
  return profile::one_per_value<FindingKind, FindingTexts>({
      {hidden_graphs,
       "{hidden_share_of_gpu_time:percent} of GPU time is inside CUDA graphs whose kernels were "
       "not recorded",
       "{replays:~replay} with {hidden_time:ms} ms in total[hidden_time_per_instance?; in {stage} "
       "{hidden_time_per_instance:ms} ms {per} ({share_of_wall:percent} of the stage's wall "
       "time)]; the potential saving inside them is not known, and no other finding includes this "
       "time",
       "Record again with --cuda-graph-trace=node, so that the kernels inside CUDA graphs are "
       "recorded."},
      // The GPU waits.
      {host_stall_repeated, "The host stalls before \"{work_after}\"",
       "{saving}: {gaps:~gap} of {mean_gap:ms} ms on average between \"{work_before}\" and "
       "\"{work_after}\"{and_longest_gap}",
       "Sample the host to find out what it does before this kernel each time: a plan or kernel "
       "built for every new shape, an allocation, compilation. Then cache the result or keep the "
       "shapes fixed[decodes?[of_llm? (static KV cache)]]."},
      {host_stall_single,
       "The host stalls [stalls=1?once, before][!stalls=1?{stalls:.0f} times, longest before] "
       "\"{work_after}\"",
       "{saving} on average: [stalls=1?one stall][!stalls=1?{stalls:~stall} of {stalled:ms} ms in "
       "total] in [instances=1?the only {stage}[unit=engine step? "
       "step]][!instances=1?{instances_with_stall:.0f} of {instances:.0f} {stage}[unit=engine "
       "step? step]s], [!stalls=1?the longest ]{longest_gap:ms} ms before \"{work_after}\"; host "
       "activity: {host}",
       "Find out what the host did [stalls=1?in this stall][!stalls=1?in these stalls] "
       "(compilation, autotuning, a cuDNN or cuBLAS plan, a first allocation) and move it into a "
       "warm-up before the first real request."},
      {launch_bound, "The GPU waits for the host",
       "{saving}: late launches cause {gaps_per_instance:~gap} {per}; "
       "{share_in_cuda_calls:percent} of the gap time is in CUDA calls and "
       "{share_in_host_code:percent} in host code between them; {how_launched}"
       "[tracing_included?; tracing itself lengthens every host call, so the loss without tracing "
       "is smaller]"},
      {gap_between_steps, "The host works between steps while the GPU waits",
       "{saving}: {gap_per_step:fine_ms} ms per step in "
       "{steps_per_instance:~step}{and_longest_gap}"},
      {synchronization, "The host waits for the GPU before it launches more",
       "{saving}: synchronization is the main cause of {gaps_per_instance:~gap} "
       "{per}[longest_gap?; the longest gap is {longest_gap:ms} ms, in {host}, after "
       "\"{work_before}\"]"},
      {queue_gaps, "Small gaps between kernels that were launched in time",
       "{saving}: {gaps_per_instance:~gap} {per} of {mean_gap:fine_ms} ms on average; "
       "{how_launched}[tracing_included?; tracing kernels inside CUDA graphs lengthens each gap, "
       "so "
       "the loss without tracing is smaller]",
       "Run fewer kernels: each kernel that is fused removes its gap. Programmatic dependent "
       "launch hides the remaining gaps on Hopper and later GPUs."},
      {first_work_queued, "GPU work starts late although it was launched in time",
       "{saving} between the return of a launch and the start of its work: the GPU was still busy "
       "with earlier work that the capture does not show",
       "Start recording one step earlier: the capture then shows the work before this stage, and "
       "this time can be separated from the stage's own cost."},
      {idle_before_first_work, "Idle time before the first GPU work", "{saving}{and_longest_gap}",
       "Prepare inputs[of_llm? (tokens, positions, masks, block tables)] before the stage, or "
       "while the GPU still works on the previous one."},
      {idle_after_last_work, "Idle time after the last GPU work", "{saving}{and_longest_gap}",
       "Move what the host does with the result (copies, [of_llm?detokenization, ]bookkeeping) out "
       "of the stage, or overlap it with the GPU work of the next one."},
      // Kernels with a floor from the model's cost.
      {gemm_above_floor, "Matrix products above their floor", "{above_floor}", kProductAdvice},
      {gemv_above_floor, "Matrix-vector products above their floor", "{above_floor}",
       kProductAdvice},
      {attention_above_floor, "Attention above its floor", "{above_floor}",
       "[on_cpu?Read keys and values once, in the order in which they are stored, split the heads "
       "over the cores, and keep scores in the cache.]"},
      // Kernels whose floor is 0.
      {small_kernels, "Small kernels that can be fused", "{kernel_evidence}"},
      {fusible_norm, "Normalization that can be fused", "{kernel_evidence}",
       "Fuse it into the loop that reads the same row for the next matrix product."},
      {fusible_rope, "Position embedding that can be fused", "{kernel_evidence}",
       "Rotate keys and queries where they are written."},
      {fusible_elementwise, "Element-wise operators that can be fused", "{kernel_evidence}",
       "Fuse them into the preceding GEMM's epilogue."},
      {copies_and_casts, "Copies and casts", "{kernel_evidence}",
       "[concatenates?Remove the concatenations first: write K and V into a preallocated cache, "
       "and rotate in place. Then keep][!concatenates?Keep] one data type and one layout from end "
       "to end[!concatenates|on_cpu?: fuse casts around norms into the norm kernel, and layout "
       "changes into the GEMM that reads or writes them]."},
      {token_selection, "Token selection", "{kernel_evidence}",
       "[on_cpu?Select from the last position's logits only, on all cores.][!on_cpu?Select the "
       "token in one fused kernel (top-k, top-p and sampling together), from the last position's "
       "logits only.]"},
      {expert_routing, "Expert routing", "{kernel_evidence}",
       "Use a fused routing kernel (gate, top-k and token order together), and grouped GEMMs for "
       "the experts instead of one GEMM per expert."},
      // In a job, waits are reported separately.
      {exposed_communication, "Communication that no computation overlaps",
       "{saving}[wait_time? without waits for other ranks: of {communication_time:ms} ms in "
       "communication {per}, mean of {ranks:~rank}, {wait_time:ms} ms are waits and "
       "{hidden_time:ms} ms are hidden behind compute; ][!wait_time?, of {communication_time:ms} "
       "ms in communication kernels: ]{kernel_counts}; {longest_kernels}",
       "[wait_time?Use][!wait_time?Check first whether ranks wait for each other (compare their "
       "start times). Then use] a low-latency all-reduce for small messages, overlap "
       "[wait_time?communication][!wait_time?it] with the next GEMM, or spread the model over "
       "fewer GPUs."},
      {exposed_copies, "Copies and fills while no kernel runs",
       "{saving}: [*copies_per_instance/, ?{copies_per_instance:plain} "
       "[@copies_per_instance=fill?fill[!copies_per_instance=1?s]][!@copies_per_instance=fill?[!@"
       "copies_per_instance=copy?{copies_per_instance:source} "
       "]cop[copies_per_instance=1?y][!copies_per_instance=1?ies]] ({bytes_per_instance:scaled})] "
       "{per}",
       "Keep what the next step needs on the GPU. Send the rest through pinned memory on a stream "
       "of its own, so that it overlaps with kernels."},
      // From counters, ncu and steps.
      {low_clocks, "The GPU runs below its maximum clock",
       "{saving} if all GPU time scaled with the clock: SM clock {mean_clock:clock} on average "
       "({lowest_clock:clock} to {highest_clock:clock} in {samples:~sample}), maximum "
       "{maximum_clock:clock}; [*slowed_by/, ?{slowed_by:source} in {slowed_by:percent}[first? of "
       "the samples]][!slowed_by?no reason for lower clocks was recorded][highest_temperature?; up "
       "to {highest_temperature:temperature} °C][mean_power?; {mean_power:power} W on average]",
       "Compare only with runs at the same clocks. Check cooling and the power limit (nvidia-smi "
       "-q -d PERFORMANCE,POWER,CLOCK). Clocks that were locked or set by hand are the other usual "
       "reason."},
      {slow_steps,
       "[only_first_steps?The first step takes longer][!only_first_steps?[slow_steps=1?One step "
       "takes][!slow_steps=1?Some steps take] clearly longer] than the others",
       "{saving}: the [!slow_steps=1?{slow_steps:plain} ]slowest of {steps:plain} "
       "steps[!slow_steps=1? together], compared with a median step of {median_step:ms} ms; the "
       "slowest takes {slowest_above_median:ms} ms longer[slower_by?: ][*slower_by/, "
       "?{slower_by:source} ({slower_by:+.3f} ms)]{counted_twice}",
       "[only_first_steps?Move what only the first step does before the loop: [on_cpu?touch "
       "memory, start threads][!on_cpu?upload graphs (cudaGraphUpload), allocate], choose kernels. "
       "Then compare again.][!only_first_steps?In the timeline of the slowest step, look first at "
       "the part that takes longer than in the median step. If it is a gap, sample the "
       "[on_cpu?program][!on_cpu?host] (garbage collection, allocation, other threads).]"},
      {latency_bound_kernels, "Kernels that reach neither the compute nor the memory roof",
       "{saving} above the nearer roof: ncu measured {kernel_names:~kernel}; of their launches in "
       "this stage, {launches_measured:plain} of {launches:plain} "
       "[launches_measured=1?has][!launches_measured=1?have] a grid, block and range that ncu "
       "measured[!all_measured? (the others are not rated)][*kernel_share_of_roof/?; "
       "{kernel_share_of_roof:source} at {kernel_share_of_roof:percent} of its nearer "
       "roof[kernel_occupancy?, occupancy {kernel_occupancy:percent}]]{counted_twice}",
       "Give them more work in flight: larger or more blocks (split the reduction dimension), "
       "fewer registers per thread, or fusion.[kernel_share_of_roof? Start with "
       "\"{kernel_share_of_roof:source}\".]"},
      {time_outside_operators, "Time outside recorded operators",
       "{saving}, in {gaps_per_instance:~gap} {per}{and_longest_gap}",
       "Record what runs there as operators to see it. Then move it out of the loop: allocation, "
       "starting threads, copies[of_llm?, tokenization]."},
      // Between the ranks of a job.
      {straggler, "Other ranks wait for rank {rank}",
       "[unit?{saving}][!unit?up to {recoverable:ms} ms in the whole timeline]: others wait for "
       "rank {rank}[unit? up to {wait_per_step:fine_ms} ms per step], {wait_total:ms} ms summed "
       "over these ranks; it arrives last in {last_share:percent} of the "
       "[by_step_time?steps][!by_step_time?collectives][why?; {why}][lower_bound?; not all ranks "
       "were recorded, so waits may be longer]",
       "[cause=longer_kernels?Compare the kernels of rank {rank} with those of another rank. Check "
       "whether other programs use its device, and whether the model is split "
       "evenly.][cause=late_launch?Find what delays the host of rank {rank} before its "
       "collectives: work that only this rank does (sampling, logging, tokenization), or too few "
       "or distant CPU cores. Bind its process to cores near its "
       "device.][cause=more_tokens?Balance the tokens of a step: rank {rank} processes more than "
       "the others.][cause=lower_clock?Check temperature, power limit and clock settings of the "
       "GPU of rank {rank} (nvidia-smi -q -d "
       "PERFORMANCE,CLOCK).][!cause=longer_kernels|cause=late_launch|cause=more_tokens|cause=lower_"
       "clock?Record kernels and launches of all ranks to see what rank {rank} does before its "
       "collectives.]"},
      {pipeline_bubble, "Pipeline stages wait for each other",
       "{saving}: ranks of the {pipeline_stages:~pipeline stage} are idle or wait for another one "
       "in {bubble_share:percent} of their time in steps",
       "Keep at least as many micro-batches in flight as there are pipeline stages, balance the "
       "layers between them, or use tensor parallelism instead."},
      {expert_imbalance, "Experts are unevenly loaded",
       "{saving}: expert kernels of rank {rank} take {imbalance:ratio} times the mean of all ranks",
       "Place experts by their load, or replicate the busiest ones (expert-parallel load "
       "balancing)."},
      {slow_link, "Large collectives use little of their link",
       "{saving}: {collective:shown} of {message:scaled} in group {group} moves {bandwidth:scaled} "
       "over each rank's {link:shown}, {share_of_peak:percent} of its peak of "
       "{peak_bandwidth:scaled}",
       "Check how the devices are connected (nvidia-smi topo -m), and which transport and "
       "algorithm NCCL chose (NCCL_DEBUG=INFO)."},
      // What requests of a client waited for; conf/engines has the advice.
      {requests_delayed_by_prompts, "Prompts of other requests delay tokens",
       "{of_requests}[delayer?; request {delayer} delays others most: {delayer_time:ms} ms, summed "
       "over {delayer_requests:~request}]"},
      {requests_queued, "Requests wait before the engine starts them",
       "{of_requests}[largest_batch?; the largest batch gives {largest_batch:~sequence} a "
       "token[most_in_flight?, and up to {most_in_flight:~request} [most_in_flight=1?was][!most_in_"
       "flight=1?were] in flight]][over_saturated?; requests arrive faster than they are "
       "answered]"},
      {requests_delayed_by_host, "Requests wait for the host between steps",
       "{of_requests}{counted_twice}"},
      {requests_without_graph, "Steps of requests run without their CUDA graph, or padded",
       "{of_requests}{counted_twice}"},
      {requests_preempted, "Requests are taken out of the batch",
       "{of_requests}; {preemptions:~preemption}"},
      {requests_delivered_late, "Tokens take long from the engine to the client",
       "{of_requests}[delivery_median?; a token takes {delivery_median:ms} ms (median), "
       "{delivery_p99:ms} ms (p99)]"},
      {requests_at_low_clocks, "Steps of requests take longer at lowered clocks",
       "{of_requests}{counted_twice}"},
      {requests_in_communication, "Requests wait for communication between GPUs",
       "{of_requests}{counted_twice}"},
      // GPU memory: bytes, no time.
      {memory_allocation_failed,
       "[cause=fragmentation?An allocation failed because free memory was in pieces]"
       "[cause=other_pools?An allocation failed although other pools had free memory]",
       "{failures:~allocation} failed on {gpu}; the largest asked for {requested:scaled}"
       "[place? in {place}]: the GPU had {device_free:scaled} free, PyTorch {free_same:scaled} for "
       "such a request, at most {largest_free_same:scaled} in one piece, and {free_other:scaled} "
       "in other pools, streams and size classes{of_gpu}",
       "[cause=fragmentation?[expandable=no?Set "
       "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: free memory then joins to larger "
       "pieces.][expandable=yes?Allocate large tensors first, or reuse them: expandable segments "
       "were on already.]][cause=other_pools?Release the memory of the other pools: delete unused "
       "CUDA graphs or tensors of other streams, then call torch.cuda.empty_cache().]"},
      {memory_reserved_unused, "PyTorch holds memory that it does not use",
       "when PyTorch's allocations were highest on {gpu}, {unused:scaled} of {reserved:scaled} "
       "that "
       "it held were unused ({share_of_reserved:percent}){of_gpu}",
       "[expandable=no?Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and compare the "
       "peak: other libraries, a larger batch or a longer context can use what it "
       "saves.][expandable=yes?Allocate large tensors once and reuse them; call "
       "torch.cuda.empty_cache() after loading and warm-up.]"},
      {memory_graph_pools, "Private pools of CUDA graphs hold memory that they do not use",
       "{pools:~private pool} on {gpu} [pools=1?holds][!pools=1?hold] {reserved:scaled} "
       "({share_of_reserved:percent} of PyTorch's memory), {unused:scaled} of it free at the "
       "snapshot{of_gpu}",
       "Capture all graphs into one pool (torch.cuda.graph_pool_handle), the largest batch first, "
       "so that they share memory; capture fewer batch sizes."},
      {memory_pool_unused, "CUDA's memory pools hold free memory",
       "at the peak on {gpu}, {unused:scaled} in the pools are free, besides {in_use:scaled} in "
       "use{of_gpu}",
       "Lower the pool's release threshold (cudaMemPoolAttrReleaseThreshold), or call "
       "cudaMemPoolTrimTo after loading: other allocators can use it then."},
      {memory_duplicated_weights, "The model's weights are on the GPU more than once",
       "{sets:~set} of the model's weights ({weights:scaled} each) are on {gpu}: {extra:scaled} "
       "more than one set[extra_tokens?, the KV cache of {extra_tokens:~token}]{of_gpu}",
       "Drop the other references before the program serves: a copy in another format, a second "
       "instance of the model, a checkpoint that is still held after load_state_dict."},
      {memory_cache_unused, "Most of the KV cache is not used",
       "the KV cache on {gpu} takes {reserved:scaled} and holds {tokens:~token}; requests had at "
       "most {used_tokens:~token} in it at a time ({share_used:percent}), so {unused:scaled} were "
       "not used{of_gpu}",
       "Admit more sequences or longer ones at a time, or reserve less: a shorter maximum context, "
       "fewer slots, a lower share of the GPU for the cache."},
      {memory_leak, "GPU memory grows with every request",
       "on {gpu}, {owner} allocates {per_request:scaled} more with each request and keeps it "
       "({lower:scaled} to {upper:scaled}, 95 % interval): {grown:scaled} in "
       "{requests:~request}{of_gpu}[requests_left?; the free memory lasts for "
       "{requests_left:~request} more]",
       "Find what keeps it: allocations of memory_events that are never released, by range, or "
       "two memory snapshots of PyTorch, by call stack (docs/memory.md). Drop references to "
       "tensors of finished requests."},
  });
}();

// Values for the texts: the finding's own values and fields, and the phrases.
std::vector<FindingValue> values_for(const Finding& finding, bool on_cpu) {
  FindingValues more;
  more.add("stage", finding.stage.value_or("the capture")).add("per", per_unit(finding));
  if (finding.unit) more.add("unit", *finding.unit);
  if (profile::is_of_memory(finding.kind)) more.add("gpu", finding.subject.value_or("the GPU"));
  if (finding.saving) more.add("recoverable", *finding.saving);
  const auto same = [&](std::string_view a, std::string_view b) {
    return profile::find_number(finding.values, a) == profile::find_number(finding.values, b);
  };
  more.add("share_of_wall", finding.share_of_wall)
      .add("on_cpu", on_cpu)
      // Forward passes of a model that is not known to generate tokens: advice about tokens, KV
      // caches or prompts does not apply.
      .add("of_llm", finding.stage != profile::kForwardStage)
      .add("pass_is_unit", profile::find_text(finding.values, "pass") == finding.unit)
      .add("all_measured", same("launches", "launches_measured"));
  std::vector<FindingValue> values = finding.values;
  for (FindingValue& value : std::move(more).take()) values.push_back(std::move(value));
  for (const auto& [name, text] : kPhrases) {
    values.push_back({std::string(name), {}, {}, fill_text(text, values)});
  }
  return values;
}

// The only figure in the advice of conf/engines.
void put_longest_gap(const std::vector<FindingValue>& values, std::string& advice) {
  constexpr std::string_view kPlace = "{longest_gap}";
  const size_t place = advice.find(kPlace);
  if (place == std::string::npos) return;
  advice.replace(
      place, kPlace.size(),
      fill_text("[longest_gap? (the longest gap, {longest_gap:ms} ms, is before \"{work_after}\")]",
                values));
}

}  // namespace

void word_findings(Profile& profile) {
  const bool on_cpu = profile.context.device_kind == DeviceKind::cpu;
  for (Finding& finding : profile.findings) {
    if (!has_all_values(finding)) continue;
    const auto values = values_for(finding, on_cpu);
    const FindingTexts& texts = kFindingTexts[static_cast<size_t>(finding.kind)];
    finding.title = fill_text(texts.title, values);
    finding.evidence = fill_text(texts.evidence, values);
    if (finding.advice.empty()) finding.advice = fill_text(texts.advice, values);
    put_longest_gap(values, finding.advice);
  }
}

}  // namespace llmprof::report
