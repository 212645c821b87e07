#include "report/reasons/word_reasons.h"

#include "report/format/words.h"
#include "report/reasons/fill_text.h"

namespace llmprof::report {
namespace {

// In the syntax of fill_text; `rest` follows the part that several kinds share.
struct ReasonText {
  ReasonKind value;
  std::string_view text;
  std::string_view rest = {};
};

constexpr std::string_view kPassesOfLayers =
    "{passes:#forward pass} of [*layers/ or ?{layers}] [named?attention ]layers, ";
constexpr std::string_view kShareOfModel =
    "[tp|pp|ep?; for one GPU of[tp? tp {tp}][pp? pp {pp}][ep? ep {ep}]]";
constexpr std::string_view kOfModel =
    "[model_layers? (the model of {model_layers} attention layers)]";
constexpr std::string_view kAtPeak =
    "[divided_by_time?, divided by time among all matrix products][traced_share?, of which "
    "{traced_share:percent} was traced]";
// Possible errors, the likeliest first.
constexpr std::string_view kImpossible =
    "{figure} of {stage} on {time} time would be {share:0%}, which is impossible: check "
    "[captured_gpu?--gpu {gpu} (the capture says {captured_gpu}), ][prompt_tokens?{prompt_tokens} "
    "prompt tokens ({prompt_tokens:source}), ][batch?batch {batch:()}, ]the model (--model), its "
    "dtype ({weights_dtype}; KV cache {kv_cache_dtype}), --tp {tp}, --pp {pp}, --ep "
    "{ep}[weights_may_be_cached?, whether the weights stay in the GPU's cache][time=busy?, whether "
    "the capture misses kernels]";

constexpr auto kReasonTexts = [] {
  using enum ReasonKind;
  return profile::one_per_value<ReasonKind, ReasonText>({
      {passes_between_ranges, kPassesOfLayers,
       "between the ranges of the engine's model runner; kernels determine their kind"},
      {passes_in_sequence, kPassesOfLayers, "found in the kernel sequence"},
      {kernels_repeat, "{share:all%} of their kernels are in passes that repeat kernel by kernel"},
      {passes_with_known_ends,
       "{share:all%} of the passes have a marked start and end (embedding, token selection or "
       "graph)"},
      {layers_outside_passes,
       "{layers_outside} of {layers} attention layers are outside them[vision_passes?, including "
       "{vision_layers} in {vision_passes:#vision pass}, each starting with a convolution]"},
      {repetition_alone, "repetition alone shows them: no kernel names confirm them"},
      {no_sign_of_tokens,
       "nothing shows that they generate tokens: no KV cache, and no smaller steps after a larger "
       "pass that embed or choose tokens"},
      {kind_is_a_guess, "all passes have the same size, so their kind is a guess"},
      {larger_passes,
       "forward passes with more tokens than sequences, or larger than the steps after them"},
      {one_token_passes, "forward passes that repeat, one token per sequence"},
      {mixed_passes, "forward passes with prompt tokens and the sequences of the step before"},
      {passes_of_other_model, "forward passes of a model that is not known to generate tokens"},
      {no_timeline, "stages need a timeline; record one with `llmprof run -- PROGRAM`"},
      {no_gpu_work, "the capture contains no GPU work with timestamps"},
      {training_by_kernels, "this is a training run: there are backward passes"},
      {training_by_threads,
       "this is a training run: two threads launch passes alternately, forward and backward"},
      {nothing_repeats, "the kernel sequence does not repeat as layers and forward passes do"},
      {none_equal_behind,
       "{stretches} stretches repeat as layers do, but none is followed by an equal one, as decode "
       "steps are: training or another program"},
      {few_behind_each_other,
       "{stretches} stretches repeat as layers do, but only {following} follow each other as "
       "forward passes do"},
      {no_attention, "no kernel is known as attention, and no softmax runs between two GEMMs"},
      {no_pass_ends,
       "[by_softmax?a softmax between two GEMMs][!by_softmax?attention] runs {layers} times, but "
       "no embedding, gather or token selection recurs after equal numbers of layers, as it does "
       "from one forward pass to the next"},
      {few_layers_in_passes,
       "only {layers_in_passes} of {layers} attention layers fit into {passes} forward passes of "
       "equal length"},
      {passes_cut, "every forward pass is cut by a period in which nothing was traced"},
      {softmax_alone, "a softmax runs between two GEMMs {layers} times"},
      {any_loop,
       "{passes} passes of {layers} layers repeat, all of the same size, and no kernel is known as "
       "attention: decode steps cannot be distinguished from any other loop"},
      {no_stages, "no stages were found[why?: {why}]"},
      {no_model,
       "no model was named; name it with --model: a Hugging Face config.json or a preset such as "
       "llm/llama3_8b"},
      {no_model_given, "no --model given"},
      {gpu_not_named, "the capture does not name its GPU; name it with --gpu"},
      {gpu_unknown,
       "the GPU '{gpu}' is not in conf/gpus.yaml, or is one of several variants there; name one "
       "with --gpu, or add it to a gpus.yaml in a folder given with --config-dir"},
      {cpu_peaks_unknown,
       "the CPU's peaks are not known; give the workload's metrics.json with "
       "device.peak_flops_per_s and device.peak_bytes_per_s"},
      {all_warmup, "every instance is a warm-up"},
      {several_gpus,
       "one process runs it on {gpus} GPUs; give --tp, --pp or --ep, because without them the "
       "figures would be up to {gpus} times too high"},
      {no_peak_of_format, "conf/gpus.yaml has no peak for {format} on {gpu}: no MFU"},
      {contexts_unknown,
       "MBU needs the context length of every sequence, which the capture does not hold"},
      {busy_time_untraced,
       "no figures on busy time, because the collector did not trace continuously"},
      {work_not_recorded, "no operator in it was recorded with FLOPs or bytes"},
      {prompt_tokens_unknown,
       "the number of prompt tokens is not known; give it with --prompt-tokens"},
      {decode_steps_unknown, "the number of decode steps is not known; give it with --new-tokens"},
      {step_tokens_unknown,
       "the number of tokens is known for {known_steps} of {steps:#step}; the engine's step "
       "annotations hold it"},
      {no_cost_formula,
       "there is no cost formula for the stage '{stage}', only for prefill and decode"},
      {impossible_figure, "", kImpossible},
      {depends_on_impossible_figure,
       "no figure, because it depends on the same inputs as an impossible one: ", kImpossible},
      {above_measured_peak,
       "MFU on {time} time would be {share:0%} of the measured peak: check the FLOPs and how the "
       "peak was measured (metrics.json, device)"},
      {above_measured_bandwidth,
       "MBU on {time} time would be {share:0%} of the memory bandwidth: {stage}'s bytes come from "
       "the CPU's caches; measure memory with weights of at least four times its last-level cache"},
      {slightly_above_measured,
       "a figure is slightly above 100 %, because the peaks are measurements, too"},
      {prefill_pass,
       "1 pass of {prompt_tokens:#prompt token} ({prompt_tokens:source}), batch "
       "{batch:()}[images?, {images:#image}]",
       kShareOfModel},
      {decode_passes,
       "{steps:mean step}[@steps? ({steps:source})] of 1 token at a context of {first_context} to "
       "{last_context} (prompt: {prompt_tokens:source}), batch {batch:()}[other_new_tokens?; "
       "{other_new_tokens:source} says {other_new_tokens:#new token}]",
       kShareOfModel},
      {engine_steps,
       "{steps:#step} of {tokens_per_step:.1f} tokens on average; attention and the KV cache are "
       "excluded, because the contexts[steps_without_contexts? of {steps_without_contexts:#step}] "
       "are unknown",
       kShareOfModel},
      {engine_steps_in_context,
       "{steps:#step} of {tokens_per_step:.1f} tokens on average, at contexts of "
       "{contexts_per_step:.1f} tokens in total[attention_window?; layers with an attention window "
       "are calculated at the mean context]",
       kShareOfModel},
      {recorded_operators,
       "FLOPs or bytes recorded with {operators_with_work} of the {operators:#operator} of "
       "{instances:#instance}"},
      {traced_steps_on_busy_time,
       "on busy time, of the {steps_traced} of {steps:#step} that {steps_traced:were} traced"},
      {flops_at_peak, "{flops:scaled} at {peak_flops:scaled} ({peak})", kAtPeak},
      {bytes_at_peak,
       "{bytes:scaled} of [bytes_are=weights?weights, read once per pass,][bytes_are=kv_cache?KV "
       "cache][bytes_are=recorded?recorded bytes] at {peak_bandwidth:scaled}",
       kAtPeak},
      {own_flops_at_peak, "its own FLOPs at {peak_flops:T.4g} TFLOP/s ({format})"},
      {own_bytes_at_peak, "its own DRAM bytes at {peak_bandwidth:T.3g} TB/s"},
      {zero_overlaps_computation, "0, as a lower bound: it can overlap with computation"},
      {zero_copy_avoidable,
       "0, as a lower bound: a fill or copy inside a step can be avoided or overlapped"},
      {zero_small_beside_output_head,
       "0, as a lower bound: small compared with the output head before it"},
      {zero_fusible_into_experts, "0, as a lower bound: it can be fused into the experts' GEMMs"},
      {zero_fusible_into_products,
       "0, as a lower bound: it can be fused into the neighboring GEMMs"},
      {zero_copies_overlap_kernels,
       "0, as a lower bound: copies and fills can overlap with kernels or be avoided"},
      {zero_fewer_kernels, "0, as a lower bound: fewer kernels leave fewer gaps between them"},
      {zero_idle_gpu, "0: an idle GPU does no useful work"},
      {zero_outside_operators, "0: no operator of the model was recorded in that time"},
      {own_time_unknown_kernels, "its own time: the purpose of these kernels is unknown"},
      {own_time_hidden_graphs, "its own time: the capture does not show the graphs' kernels"},
      {own_time_unknown_cause, "its own time: the capture does not show its cause"},
      {own_time_without_floor, "its own time; no floor"},
      {bound_by_ncu,
       "a kernel is bound by memory or by compute if the higher of its memory and compute (SM) "
       "throughput is at least {bound_share_of_peak:g%} of the peak (memory if both are equal). "
       "Below that it is bound by latency. It is unknown if one of them was not measured. "
       "Percentages are ncu's (SpeedOfLight), of the peak at the clocks of its run, mean over the "
       "measured launches"},
      {bound_by_counters,
       "for kernels measured by the GPU's counters, a sample belongs to a kernel that ran alone "
       "for at least {share_of_sample:g%} of it. FLOP/s are the tensor cores' activity times the "
       "dense peak of the number format (from the kernel's name, otherwise from the model). This "
       "is an upper bound: each active cycle counts as fully used, at the data-sheet clock. Work "
       "outside the tensor cores is excluded. From {bound_share_of_peak:g%} of the peak on, the "
       "kernel is bound by memory or compute, whichever is higher; below that its bound is "
       "unknown"},
      {bound_by_recorded_work,
       "a kernel is bound by memory if its bytes over time are at least {bound_share_of_peak:g%} "
       "of the measured memory bandwidth and not below its compute share; by compute if its FLOPs "
       "over time are at least {bound_share_of_peak:g%} of the measured peak and above its memory "
       "share; by latency if both are below {bound_share_of_peak:g%}. FLOPs and bytes are those "
       "that the program recorded with its operators; above 100 % of the memory bandwidth the "
       "bytes came from a cache"},
      {no_kernel_metrics,
       "these captures contain no kernel metrics; record them with `ncu --set roofline --section "
       "SpeedOfLight --section MemoryWorkloadAnalysis --csv --page raw --log-file ncu.csv PROGRAM` "
       "and analyze both files together"},
      {flops_not_counted,
       "{kernels_without} of {kernels:#kernel}: no FLOP/s, because their floating-point "
       "instructions or their tensor operations were not all counted (`--set roofline` does, on "
       "the raw page)"},
      {bytes_not_counted,
       "{kernels_without} of {kernels:#kernel}: no DRAM bytes (`--section MemoryWorkloadAnalysis`, "
       "or `--metrics dram__bytes.sum`)"},
      {throughput_not_measured,
       "{kernels_without} of {kernels:#kernel}: no bound class (`--section SpeedOfLight`)"},
      {shorter_than_samples,
       "{kernels_without} of {kernels:#kernel} without ncu's metrics: too short for the counters' "
       "sampling interval of {interval:ms} ms: no kernel alone fills {share_of_sample:g%} of a "
       "sample (`collector.counter_hz=10000` samples every 0.1 ms)"},
      {operators_without_work,
       "no operator was recorded with FLOPs or bytes (llmprof_operator takes both)"},
      {bound_needs_cpu_peaks,
       "no bound class: the CPU's peaks are not known (the workload's metrics.json, device)"},
      {few_counter_samples,
       "counter samples cover only {share_of_wall:percent} of the stage's wall time, too little"},
      {no_counter_samples,
       "no counter sample lies in the stage: counters were not set up yet, or were paused "
       "(collector.counter_rounds=false samples continuously)"},
      {impossible_bandwidth,
       "the measured bytes would be {share:0%} of the memory bandwidth, which is impossible: check "
       "the GPU (--gpu), and whether kernels are missing in the capture"},
      {sensors_read_rarely,
       "no energy figure, because the sensors were read only every {time_between_readings:.1f} ms, "
       "too rarely to separate this stage from the others"},
      {trace_without_operators,
       "the PyTorch trace contains no operators; record it with ProfilerActivity.CPU among the "
       "activities of torch.profiler.profile"},
      {no_framework_operators,
       "these captures contain no framework operators; if the program uses PyTorch, record a "
       "PyTorch trace of it (torch.profiler.profile, then export_chrome_trace)"},
      {layers_in_hidden_graphs, "{stage}: its kernels are hidden inside CUDA graph replays",
       kOfModel},
      {stage_without_kernels, "{stage}: no kernels", kOfModel},
      {layer_steps_unknown, "{stage}: its steps are unknown", kOfModel},
      {layers_not_repeating,
       "{stage}: no layer ranges around its launches, and its kernels do not repeat layer by layer",
       kOfModel},
      {unlike_median_layer,
       "{kernels_per_pass:.4g} kernels per pass, the median layer has "
       "{median_kernels_per_pass:.4g}"},
      {few_tracing_windows,
       "{traced_windows} windows of traced and {untraced_windows} of untraced steps lie entirely "
       "inside a decode, but {windows_needed} of each are needed: decode more tokens, or shorten "
       "the period of --duty"},
      {slow_step_rule,
       "more than {share_above_median:0%} and more than {deviations_above_median:g} typical "
       "deviations (of the faster half) longer than the median of comparable steps (same kind, "
       "batch and tokens). With fewer than {comparable_steps} comparable steps, it is slow if it "
       "takes more than [times_the_median=2?twice][!times_the_median=2?{times_the_median:g} "
       "times] as long as the median step of its kind"},
      {longer_work,
       "{work}[more_calls? ({more_calls:#call} more)][!more_calls?[calls>1? ({calls} calls "
       "together)]]"},
      {longer_gap, "[calls>1?gaps before {work} ({calls} calls)][!calls>1?gap before {work}]"},
      {longer_small_gaps, "{gaps} small gaps between GPU work together"},
      {longer_unexplained, "unexplained"},
      {shorter_other_parts, "other parts"},
      {host_call, "{call}[in? in {in}]"},
      {host_operator, "{operator}[in? in {in}]"},
      {host_code,
       "[between_operators?host code between operators][!between_operators?host code outside of "
       "CUDA calls][in? in {in}]"},
      {host_launched_graph, "launched with its CUDA graph"},
      {host_launched_ahead, "launched {before_gap:us} before the gap"},
      {host_launched_before, "launched {before_start:us} before it began"},
      {host_not_recorded, "no record of the host"},
      {decode_alone_estimated,
       "no step of a single sequence was recorded: own decode is estimated from larger steps"},
      {mixed_steps_by_tokens,
       "{steps:#step} with prompts and sequences in decode: no decode step of that size was "
       "recorded, so that tokens divide its time"},
      {one_rank_recorded, "only one rank was recorded"},
      {ranks_without_collectives, "the captures of the {ranks:#rank} hold no communication"},
      {collectives_not_matched,
       "none of the {collectives:#collective} has a match on another rank"},
      {parallelism_set, "set by the user or the workload ({option} {size})"},
      {only_point_to_point, "its ranks send to each other ({collectives:#message})"},
      {mostly_all_to_all, "{share:percent} of its communication time is all-to-all"},
      {collectives_in_each_layer,
       "{per_step:plain} collective[!per_step=1?s] per step, so probably in every layer"},
      {collectives_once_per_step, "{per_step:plain} collective[!per_step=1?s] per step"},
      {communication_behind_compute,
       "it gathers and scatters, and {share:percent} of its communication time is hidden behind "
       "compute"},
      {parallelism_not_clear, "its pattern ({collectives:#collective}) fits no known parallelism"},
      {rank_busy_longer,
       "when it arrives last, its kernels take {longer:fine_ms} ms[by_step? per step] longer "
       "({busy:fine_ms} ms[by_step? per step] between collectives; mean of the others "
       "{busy_of_others:fine_ms} ms)"},
      {rank_launched_later,
       "[longer?it launches {later:fine_ms} ms[by_step? per step] later, and its kernels take "
       "{longer:fine_ms} ms longer][!longer?its kernels take as long as the others', but it "
       "launches {later:fine_ms} ms[by_step? per step] later]"},
      {rank_more_tokens,
       "it processes {tokens:plain} tokens per step, the others {tokens_of_others:plain} (median)"},
      {rank_lower_clock,
       "its SM clock averages {clock:clock}; the others' median is {clock_of_others:clock}"},
      {rank_slower_steps,
       "its steps take {step:ms} ms, the others' {step_of_others:ms} ms (means)"},
      {rank_single_delays, "{delays:#single delay}, the longest {longest:ms} ms"},
      {rank_cause_not_seen, "neither its kernels nor its launches explain it"},
  });
}();

// How the next reason is joined to one.
struct Joint {
  std::string_view open;
  std::string_view close;
};
Joint joint_behind(ReasonKind kind) {
  if (kind == ReasonKind::own_time_without_floor || kind == ReasonKind::no_stages) {
    return {": ", ""};  // why there is none
  }
  if (kind == ReasonKind::softmax_alone) return {", but ", ""};  // why it is not enough
  if (kind == ReasonKind::longer_gap) return {" (", ")"};        // what the host did
  return {"; ", ""};
}

void fill(const Reasons& reasons, std::optional<std::string>& text) {
  if (auto words = reason_words(reasons)) text = std::move(words);
}

void word_stage(Stage& stage) {
  fill(stage.evidence_reasons, stage.evidence);
  fill(stage.why_not_reasons, stage.why_not);
  fill(stage.basis_reasons, stage.basis);
  if (!stage.measured) return;
  fill(stage.measured->why_not_reasons, stage.measured->why_not);
  fill(stage.measured->energy_why_not_reasons, stage.measured->energy_why_not);
}

void word_overhead(std::optional<Overhead>& overhead) {
  if (!overhead || !overhead->collector) return;
  fill(overhead->collector->why_not_reasons, overhead->collector->why_not);
}

}  // namespace

std::optional<std::string> reason_words(const Reasons& reasons) {
  if (reasons.empty()) return std::nullopt;
  std::string text;
  Joint joint;
  for (const Reason& reason : reasons) {
    if (!has_all_values(reason)) return std::nullopt;
    const ReasonText& own = kReasonTexts[static_cast<size_t>(reason.kind)];
    text += joint.open;
    text += fill_text(own.text, reason.values) + fill_text(own.rest, reason.values);
    text += joint.close;
    joint = joint_behind(reason.kind);
  }
  return text;
}

void word_reasons(Profile& profile) {
  fill(profile.stages_found.reasons, profile.stages_found.reason);
  fill(profile.utilization.why_not_reasons, profile.utilization.why_not);
  fill(profile.roofline.rule_reasons, profile.roofline.rule);
  fill(profile.roofline.why_not_reasons, profile.roofline.why_not);
  fill(profile.operators_found.why_not_reasons, profile.operators_found.why_not);
  fill(profile.layer_summary.why_not_reasons, profile.layer_summary.why_not);
  fill(profile.slow_step_rule_reasons, profile.slow_step_rule);
  word_overhead(profile.overhead);
  if (profile.job) fill(profile.job->why_not_reasons, profile.job->why_not);
  for (Rank& rank : profile.ranks) {
    fill(rank.stages_found.reasons, rank.stages_found.reason);
    for (Stage& stage : rank.stages) word_stage(stage);
    word_overhead(rank.overhead);
  }
  for (Layer& layer : profile.layers) fill(layer.note_reasons, layer.note);
  for (Stage& stage : profile.stages) word_stage(stage);
  for (Gap& gap : profile.gaps) fill(gap.host_reasons, gap.host);
  for (RepeatedGap& gap : profile.repeated_gaps) fill(gap.longest.host_reasons, gap.longest.host);
  for (SlowStep& slow : profile.slow_steps) {
    for (SlowReason& reason : slow.reasons) {
      if (auto words = reason_words(reason.what_reasons)) reason.what = std::move(*words);
    }
  }
  for (PotentialSavings& stage : profile.savings) {
    fill(stage.bound_reasons, stage.bound_reason);
    for (auto& part : stage.parts) fill(part.floor_rule_reasons, part.floor_rule);
    for (auto& kernel : stage.kernels) fill(kernel.floor_rule_reasons, kernel.floor_rule);
  }
  for (Finding& finding : profile.findings) {
    for (const FindingValueReasons& each : finding.value_reasons) {
      if (each.value < finding.values.size()) fill(each.reasons, finding.values[each.value].text);
    }
  }
}

}  // namespace llmprof::report
