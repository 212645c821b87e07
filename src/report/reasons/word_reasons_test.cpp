#include "report/reasons/word_reasons.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace llmprof::report {
namespace {

using profile::FindingValues;
using profile::make_reason;
using profile::Reason;
using profile::ReasonKind;
using profile::Share;

struct Example {
  ReasonKind kind;
  FindingValues values;
  std::string words;
};

FindingValues impossible(std::string_view time) {
  FindingValues values;
  values.add("figure", "MBU")
      .add("stage", "decode")
      .add("time", time)
      .add("share", Share{1.116})
      .add("weights_dtype", "bf16")
      .add("kv_cache_dtype", "fp8")
      .add("tp", 1)
      .add("pp", 1)
      .add("ep", 1)
      .add("weights_may_be_cached", time == "busy");
  return values;
}

FindingValues all_inputs() {
  FindingValues values = impossible("wall");
  values.add("gpu", "T4")
      .add("captured_gpu", "NVIDIA H200")
      .add("prompt_tokens", 777, "--prompt-tokens")
      .add("batch", 64, "--batch");
  return values;
}

FindingValues stage(std::string_view name = "decode") { return FindingValues().add("stage", name); }

FindingValues measured(std::string_view time) {
  return FindingValues().add("time", time).add("share", Share{2.27});
}

FindingValues kernels(double without) {
  return FindingValues().add("kernels_without", without).add("kernels", 12);
}

FindingValues decode(double steps) {
  FindingValues values;
  values.add("steps", steps)
      .add("first_context", 777)
      .add("last_context", 800)
      .add("prompt_tokens", 777, "--prompt-tokens")
      .add("batch", 1, "assumed");
  return values;
}

FindingValues bytes(std::string_view are) {
  FindingValues values;
  values.add("bytes", profile::Bytes{1600})
      .add("peak_bandwidth", profile::BytesPerSecond{5e9})
      .add("bytes_are", are);
  return values;
}

const std::string kImpossible =
    "MBU of decode on busy time would be 112 %, which is impossible: check the model (--model), "
    "its dtype (bf16; KV cache fp8), --tp 1, --pp 1, --ep 1, whether the weights stay in the GPU's "
    "cache, whether the capture misses kernels";

std::vector<Example> detection_examples() {
  using Kind = ReasonKind;
  const auto passes = [](double number, bool named) {
    return FindingValues().add("passes", number).add("named", named).add("layers", 32);
  };
  const auto share = [](double of_all) { return FindingValues().add("share", Share{of_all}); };
  const auto layers = [](double number) { return FindingValues().add("layers", number); };
  return {
      {Kind::passes_between_ranges, passes(12, true),
       "12 forward passes of 32 attention layers, between the ranges of the engine's model runner; "
       "kernels determine their kind"},
      {Kind::passes_in_sequence, passes(1, false).add("layers", 8),
       "1 forward pass of 32 or 8 layers, found in the kernel sequence"},
      {Kind::kernels_repeat, share(1),
       "all of their kernels are in passes that repeat kernel by kernel"},
      {Kind::passes_with_known_ends, share(0.9999),
       "99.9 % of the passes have a marked start and end (embedding, token selection or graph)"},
      {Kind::layers_outside_passes, layers(192).add("layers_outside", 40),
       "40 of 192 attention layers are outside them"},
      {Kind::layers_outside_passes,
       layers(192).add("layers_outside", 40).add("vision_layers", 36).add("vision_passes", 1),
       "40 of 192 attention layers are outside them, including 36 in 1 vision pass, each starting "
       "with a convolution"},
      {Kind::repetition_alone, {}, "repetition alone shows them: no kernel names confirm them"},
      {Kind::no_sign_of_tokens,
       {},
       "nothing shows that they generate tokens: no KV cache, and no smaller steps after a larger "
       "pass that embed or choose tokens"},
      {Kind::kind_is_a_guess, {}, "all passes have the same size, so their kind is a guess"},
      {Kind::larger_passes,
       {},
       "forward passes with more tokens than sequences, or larger than the steps after them"},
      {Kind::one_token_passes, {}, "forward passes that repeat, one token per sequence"},
      {Kind::mixed_passes,
       {},
       "forward passes with prompt tokens and the sequences of the step before"},
      {Kind::passes_of_other_model,
       {},
       "forward passes of a model that is not known to generate tokens"},
      {Kind::no_timeline, {}, "stages need a timeline; record one with `llmprof run -- PROGRAM`"},
      {Kind::no_gpu_work, {}, "the capture contains no GPU work with timestamps"},
      {Kind::training_by_kernels, {}, "this is a training run: there are backward passes"},
      {Kind::training_by_threads,
       {},
       "this is a training run: two threads launch passes alternately, forward and backward"},
      {Kind::nothing_repeats,
       {},
       "the kernel sequence does not repeat as layers and forward passes do"},
      {Kind::none_equal_behind, FindingValues().add("stretches", 7),
       "7 stretches repeat as layers do, but none is followed by an equal one, as decode steps "
       "are: training or another program"},
      {Kind::few_behind_each_other, FindingValues().add("stretches", 7).add("following", 2),
       "7 stretches repeat as layers do, but only 2 follow each other as forward passes do"},
      {Kind::no_attention,
       {},
       "no kernel is known as attention, and no softmax runs between two GEMMs"},
      {Kind::no_pass_ends, layers(100).add("by_softmax", false),
       "attention runs 100 times, but no embedding, gather or token selection recurs after equal "
       "numbers of layers, as it does from one forward pass to the next"},
      {Kind::no_pass_ends, layers(100).add("by_softmax", true),
       "a softmax between two GEMMs runs 100 times, but no embedding, gather or token selection "
       "recurs after equal numbers of layers, as it does from one forward pass to the next"},
      {Kind::few_layers_in_passes, layers(64).add("layers_in_passes", 24).add("passes", 3),
       "only 24 of 64 attention layers fit into 3 forward passes of equal length"},
      {Kind::passes_cut, {}, "every forward pass is cut by a period in which nothing was traced"},
      {Kind::softmax_alone, layers(24), "a softmax runs between two GEMMs 24 times"},
      {Kind::any_loop, layers(8).add("passes", 12),
       "12 passes of 8 layers repeat, all of the same size, and no kernel is known as attention: "
       "decode steps cannot be distinguished from any other loop"},
  };
}

std::vector<Example> utilization_examples() {
  using Kind = ReasonKind;
  return {
      {Kind::no_stages, {}, "no stages were found"},
      {Kind::no_stages, FindingValues().add("why", "no attention"),
       "no stages were found: no attention"},
      {Kind::no_model,
       {},
       "no model was named; name it with --model: a Hugging Face config.json or a preset such as "
       "llm/llama3_8b"},
      {Kind::no_model_given, {}, "no --model given"},
      {Kind::gpu_not_named, {}, "the capture does not name its GPU; name it with --gpu"},
      {Kind::gpu_unknown, FindingValues().add("gpu", "NVIDIA H999"),
       "the GPU 'NVIDIA H999' is not in conf/gpus.yaml, or is one of several variants there; name "
       "one with --gpu, or add it to a gpus.yaml in a folder given with --config-dir"},
      {Kind::cpu_peaks_unknown,
       {},
       "the CPU's peaks are not known; give the workload's metrics.json with "
       "device.peak_flops_per_s and device.peak_bytes_per_s"},
      {Kind::all_warmup, {}, "every instance is a warm-up"},
      {Kind::several_gpus, FindingValues().add("gpus", 2),
       "one process runs it on 2 GPUs; give --tp, --pp or --ep, because without them the figures "
       "would be up to 2 times too high"},
      {Kind::no_peak_of_format, FindingValues().add("format", "f32").add("gpu", "NVIDIA H200"),
       "conf/gpus.yaml has no peak for f32 on NVIDIA H200: no MFU"},
      {Kind::contexts_unknown,
       {},
       "MBU needs the context length of every sequence, which the capture does not hold"},
      {Kind::busy_time_untraced,
       {},
       "no figures on busy time, because the collector did not trace continuously"},
      {Kind::work_not_recorded, {}, "no operator in it was recorded with FLOPs or bytes"},
      {Kind::prompt_tokens_unknown,
       {},
       "the number of prompt tokens is not known; give it with --prompt-tokens"},
      {Kind::decode_steps_unknown,
       {},
       "the number of decode steps is not known; give it with --new-tokens"},
      {Kind::step_tokens_unknown, FindingValues().add("known_steps", 3).add("steps", 1024),
       "the number of tokens is known for 3 of 1024 steps; the engine's step annotations hold it"},
      {Kind::no_cost_formula, stage("vision"),
       "there is no cost formula for the stage 'vision', only for prefill and decode"},
      {Kind::impossible_figure, impossible("busy"), kImpossible},
      {Kind::impossible_figure, all_inputs(),
       "MBU of decode on wall time would be 112 %, which is impossible: check --gpu T4 (the "
       "capture says NVIDIA H200), 777 prompt tokens (--prompt-tokens), batch 64 (--batch), the "
       "model (--model), its dtype (bf16; KV cache fp8), --tp 1, --pp 1, --ep 1"},
      {Kind::depends_on_impossible_figure, impossible("busy"),
       "no figure, because it depends on the same inputs as an impossible one: " + kImpossible},
      {Kind::above_measured_peak, measured("wall"),
       "MFU on wall time would be 227 % of the measured peak: check the FLOPs and how the peak was "
       "measured (metrics.json, device)"},
      {Kind::above_measured_bandwidth, measured("busy").add("stage", "decode"),
       "MBU on busy time would be 227 % of the memory bandwidth: decode's bytes come from the "
       "CPU's caches; measure memory with weights of at least four times its last-level cache"},
      {Kind::slightly_above_measured,
       {},
       "a figure is slightly above 100 %, because the peaks are measurements, too"},
  };
}

std::vector<Example> basis_examples() {
  using Kind = ReasonKind;
  return {
      {Kind::prefill_pass,
       FindingValues().add("prompt_tokens", 1777, "--prompt-tokens").add("batch", 1, "assumed"),
       "1 pass of 1777 prompt tokens (--prompt-tokens), batch 1 (assumed)"},
      {Kind::prefill_pass,
       FindingValues()
           .add("prompt_tokens", 1, "metrics.json")
           .add("batch", 2, "--batch")
           .add("images", 2)
           .add("tp", 2)
           .add("ep", 4),
       "1 pass of 1 prompt token (metrics.json), batch 2 (--batch), 2 images; for one GPU of tp 2 "
       "ep 4"},
      {Kind::decode_passes, decode(24),
       "24 steps of 1 token at a context of 777 to 800 (prompt: --prompt-tokens), batch 1 "
       "(assumed)"},
      {Kind::decode_passes, decode(23.5).add("other_new_tokens", 100, "--new-tokens").add("pp", 2),
       "23.5 steps on average of 1 token at a context of 777 to 800 (prompt: --prompt-tokens), "
       "batch 1 (assumed); --new-tokens says 100 new tokens; for one GPU of pp 2"},
      {Kind::decode_passes, FindingValues().add("steps", 1, "--new-tokens").add_all(decode(1)),
       "1 step (--new-tokens) of 1 token at a context of 777 to 800 (prompt: --prompt-tokens), "
       "batch 1 (assumed)"},
      {Kind::engine_steps, FindingValues().add("steps", 2048).add("tokens_per_step", 6.25),
       "2048 steps of 6.2 tokens on average; attention and the KV cache are excluded, because the "
       "contexts are unknown"},
      {Kind::engine_steps,
       FindingValues().add("steps", 12).add("tokens_per_step", 4).add("steps_without_contexts", 3),
       "12 steps of 4.0 tokens on average; attention and the KV cache are excluded, because the "
       "contexts of 3 steps are unknown"},
      {Kind::engine_steps_in_context,
       FindingValues()
           .add("steps", 2)
           .add("tokens_per_step", 4)
           .add("contexts_per_step", 20)
           .add("attention_window", true),
       "2 steps of 4.0 tokens on average, at contexts of 20.0 tokens in total; layers with an "
       "attention window are calculated at the mean context"},
      {Kind::recorded_operators,
       FindingValues().add("operators_with_work", 340).add("operators", 350).add("instances", 2),
       "FLOPs or bytes recorded with 340 of the 350 operators of 2 instances"},
      {Kind::traced_steps_on_busy_time, FindingValues().add("steps_traced", 6).add("steps", 24),
       "on busy time, of the 6 of 24 steps that were traced"},
  };
}

std::vector<Example> floor_examples() {
  using Kind = ReasonKind;
  const auto flops = FindingValues()
                         .add("flops", profile::Flops{2.5e12})
                         .add("peak_flops", profile::FlopsPerSecond{989e12})
                         .add("peak", "bf16 dense");
  return {
      {Kind::flops_at_peak, flops, "2.50 TFLOP at 989.00 TFLOP/s (bf16 dense)"},
      {Kind::bytes_at_peak, bytes("weights"),
       "1.60 kB of weights, read once per pass, at 5.00 GB/s"},
      {Kind::bytes_at_peak,
       bytes("weights").add("divided_by_time", true).add("traced_share", Share{0.25}),
       "1.60 kB of weights, read once per pass, at 5.00 GB/s, divided by time among all matrix "
       "products, of which 25.0 % was traced"},
      {Kind::bytes_at_peak, bytes("kv_cache"), "1.60 kB of KV cache at 5.00 GB/s"},
      {Kind::bytes_at_peak, bytes("recorded"), "1.60 kB of recorded bytes at 5.00 GB/s"},
      {Kind::own_flops_at_peak,
       FindingValues().add("peak_flops", profile::FlopsPerSecond{100e12}).add("format", "f16"),
       "its own FLOPs at 100 TFLOP/s (f16)"},
      {Kind::own_bytes_at_peak,
       FindingValues().add("peak_bandwidth", profile::BytesPerSecond{1e12}),
       "its own DRAM bytes at 1 TB/s"},
      {Kind::zero_overlaps_computation, {}, "0, as a lower bound: it can overlap with computation"},
      {Kind::zero_copy_avoidable,
       {},
       "0, as a lower bound: a fill or copy inside a step can be avoided or overlapped"},
      {Kind::zero_small_beside_output_head,
       {},
       "0, as a lower bound: small compared with the output head before it"},
      {Kind::zero_fusible_into_experts,
       {},
       "0, as a lower bound: it can be fused into the experts' GEMMs"},
      {Kind::zero_fusible_into_products,
       {},
       "0, as a lower bound: it can be fused into the neighboring GEMMs"},
      {Kind::zero_copies_overlap_kernels,
       {},
       "0, as a lower bound: copies and fills can overlap with kernels or be avoided"},
      {Kind::zero_fewer_kernels,
       {},
       "0, as a lower bound: fewer kernels leave fewer gaps between them"},
      {Kind::zero_idle_gpu, {}, "0: an idle GPU does no useful work"},
      {Kind::zero_outside_operators, {}, "0: no operator of the model was recorded in that time"},
      {Kind::own_time_unknown_kernels, {}, "its own time: the purpose of these kernels is unknown"},
      {Kind::own_time_hidden_graphs,
       {},
       "its own time: the capture does not show the graphs' kernels"},
      {Kind::own_time_unknown_cause, {}, "its own time: the capture does not show its cause"},
      {Kind::own_time_without_floor, {}, "its own time; no floor"},
  };
}

std::vector<Example> roofline_examples() {
  using Kind = ReasonKind;
  const auto rule = FindingValues().add("bound_share_of_peak", Share{0.6});
  return {
      {Kind::bound_by_ncu, rule,
       "a kernel is bound by memory or by compute if the higher of its memory and compute (SM) "
       "throughput is at least 60 % of the peak (memory if both are equal). Below that it is bound "
       "by latency. It is unknown if one of them was not measured. Percentages are ncu's "
       "(SpeedOfLight), of the peak at the clocks of its run, mean over the measured launches"},
      {Kind::bound_by_counters,
       FindingValues().add("bound_share_of_peak", Share{0.6}).add("share_of_sample", Share{0.9}),
       "for kernels measured by the GPU's counters, a sample belongs to a kernel that ran alone "
       "for at least 90 % of it. FLOP/s are the tensor cores' activity times the dense peak of the "
       "number format (from the kernel's name, otherwise from the model). This is an upper bound: "
       "each active cycle counts as fully used, at the data-sheet clock. Work outside the tensor "
       "cores is excluded. From 60 % of the peak on, the kernel is bound by memory or compute, "
       "whichever is higher; below that its bound is unknown"},
      {Kind::bound_by_recorded_work, rule,
       "a kernel is bound by memory if its bytes over time are at least 60 % of the measured "
       "memory bandwidth and not below its compute share; by compute if its FLOPs over time are at "
       "least 60 % of the measured peak and above its memory share; by latency if both are below "
       "60 %. FLOPs and bytes are those that the program recorded with its operators; above 100 % "
       "of the memory bandwidth the bytes came from a cache"},
      {Kind::no_kernel_metrics,
       {},
       "these captures contain no kernel metrics; record them with `ncu --set roofline --section "
       "SpeedOfLight --section MemoryWorkloadAnalysis --csv --page raw --log-file ncu.csv PROGRAM` "
       "and analyze both files together"},
      {Kind::flops_not_counted, kernels(3),
       "3 of 12 kernels: no FLOP/s, because their floating-point instructions or their tensor "
       "operations were not all counted (`--set roofline` does, on the raw page)"},
      {Kind::bytes_not_counted, kernels(4),
       "4 of 12 kernels: no DRAM bytes (`--section MemoryWorkloadAnalysis`, or `--metrics "
       "dram__bytes.sum`)"},
      {Kind::throughput_not_measured, kernels(5),
       "5 of 12 kernels: no bound class (`--section SpeedOfLight`)"},
      {Kind::shorter_than_samples,
       kernels(9).add("interval", profile::Milliseconds{0.5}).add("share_of_sample", Share{0.9}),
       "9 of 12 kernels without ncu's metrics: too short for the counters' sampling interval of "
       "0.500 ms: no kernel alone fills 90 % of a sample (`collector.counter_hz=10000` samples "
       "every 0.1 ms)"},
      {Kind::operators_without_work,
       {},
       "no operator was recorded with FLOPs or bytes (llmprof_operator takes both)"},
      {Kind::bound_needs_cpu_peaks,
       {},
       "no bound class: the CPU's peaks are not known (the workload's metrics.json, device)"},
  };
}

std::vector<Example> counter_examples() {
  using Kind = ReasonKind;
  return {
      {Kind::few_counter_samples, FindingValues().add("share_of_wall", Share{0.4}),
       "counter samples cover only 40.0 % of the stage's wall time, too little"},
      {Kind::no_counter_samples,
       {},
       "no counter sample lies in the stage: counters were not set up yet, or were paused "
       "(collector.counter_rounds=false samples continuously)"},
      {Kind::impossible_bandwidth, FindingValues().add("share", Share{1.667}),
       "the measured bytes would be 167 % of the memory bandwidth, which is impossible: check the "
       "GPU (--gpu), and whether kernels are missing in the capture"},
      {Kind::sensors_read_rarely,
       FindingValues().add("time_between_readings", profile::Milliseconds{20}),
       "no energy figure, because the sensors were read only every 20.0 ms, too rarely to separate "
       "this stage from the others"},
  };
}

std::vector<Example> other_examples() {
  using Kind = ReasonKind;
  return {
      {Kind::trace_without_operators,
       {},
       "the PyTorch trace contains no operators; record it with ProfilerActivity.CPU among the "
       "activities of torch.profiler.profile"},
      {Kind::no_framework_operators,
       {},
       "these captures contain no framework operators; if the program uses PyTorch, record a "
       "PyTorch trace of it (torch.profiler.profile, then export_chrome_trace)"},
      {Kind::layers_in_hidden_graphs, stage(),
       "decode: its kernels are hidden inside CUDA graph replays"},
      {Kind::stage_without_kernels, stage(), "decode: no kernels"},
      {Kind::layer_steps_unknown, stage(), "decode: its steps are unknown"},
      {Kind::layers_not_repeating, stage().add("model_layers", 36),
       "decode: no layer ranges around its launches, and its kernels do not repeat layer by layer "
       "(the model of 36 attention layers)"},
      {Kind::unlike_median_layer,
       FindingValues().add("kernels_per_pass", 6).add("median_kernels_per_pass", 11.125),
       "6 kernels per pass, the median layer has 11.12"},
      {Kind::few_tracing_windows,
       FindingValues().add("windows_needed", 3).add("traced_windows", 2).add("untraced_windows", 1),
       "2 windows of traced and 1 of untraced steps lie entirely inside a decode, but 3 of each "
       "are needed: decode more tokens, or shorten the period of --duty"},
      {Kind::slow_step_rule,
       FindingValues()
           .add("share_above_median", Share{0.05})
           .add("deviations_above_median", 3)
           .add("comparable_steps", 4)
           .add("times_the_median", 2),
       "more than 5 % and more than 3 typical deviations (of the faster half) longer than the "
       "median of comparable steps (same kind, batch and tokens). With fewer than 4 comparable "
       "steps, it is slow if it takes more than twice as long as the median step of its kind"},
  };
}

std::vector<Example> slow_step_examples() {
  using Kind = ReasonKind;
  const auto work = [](double calls) {
    return FindingValues().add("work", "gemm").add("calls", calls);
  };
  return {
      {Kind::longer_work, work(1), "gemm"},
      {Kind::longer_work, work(4), "gemm (4 calls together)"},
      {Kind::longer_work, work(4).add("more_calls", 1), "gemm (1 call more)"},
      {Kind::longer_work, work(4).add("more_calls", 2), "gemm (2 calls more)"},
      {Kind::longer_gap, work(1), "gap before gemm"},
      {Kind::longer_gap, work(4), "gaps before gemm (4 calls)"},
      {Kind::longer_small_gaps, FindingValues().add("gaps", 1024),
       "1024 small gaps between GPU work together"},
      {Kind::longer_unexplained, {}, "unexplained"},
      {Kind::shorter_other_parts, {}, "other parts"},
  };
}

std::vector<Example> host_examples() {
  using Kind = ReasonKind;
  const auto code = [](bool between) { return FindingValues().add("between_operators", between); };
  return {
      {Kind::host_call, FindingValues().add("call", "cudaLaunchKernel"), "cudaLaunchKernel"},
      {Kind::host_call, FindingValues().add("call", "cudaLaunchKernel").add("in", "aten::mul"),
       "cudaLaunchKernel in aten::mul"},
      {Kind::host_operator, FindingValues().add("operator", "aten::item").add("in", "sample"),
       "aten::item in sample"},
      {Kind::host_code, code(true), "host code between operators"},
      {Kind::host_code, code(false).add("in", "decode_step"),
       "host code outside of CUDA calls in decode_step"},
      {Kind::host_launched_graph, {}, "launched with its CUDA graph"},
      {Kind::host_launched_ahead, FindingValues().add("before_gap", profile::Milliseconds{0.01225}),
       "launched 12.2 us before the gap"},
      {Kind::host_launched_before, FindingValues().add("before_start", profile::Milliseconds{9.94}),
       "launched 9940.0 us before it began"},
      {Kind::host_not_recorded, {}, "no record of the host"},
  };
}

std::vector<Example> job_examples() {
  using Kind = ReasonKind;
  using profile::Milliseconds;
  return {
      {Kind::one_rank_recorded, {}, "only one rank was recorded"},
      {Kind::ranks_without_collectives, FindingValues().add("ranks", 2),
       "the captures of the 2 ranks hold no communication"},
      {Kind::collectives_not_matched, FindingValues().add("collectives", 7),
       "none of the 7 collectives has a match on another rank"},
      {Kind::parallelism_set, FindingValues().add("option", "--tp").add("size", 2),
       "set by the user or the workload (--tp 2)"},
      {Kind::only_point_to_point, FindingValues().add("collectives", 8),
       "its ranks send to each other (8 messages)"},
      {Kind::mostly_all_to_all, FindingValues().add("share", Share{0.75}),
       "75.0 % of its communication time is all-to-all"},
      {Kind::collectives_in_each_layer, FindingValues().add("per_step", 64),
       "64 collectives per step, so probably in every layer"},
      {Kind::collectives_once_per_step, FindingValues().add("per_step", 1),
       "1 collective per step"},
      {Kind::communication_behind_compute, FindingValues().add("share", Share{0.9}),
       "it gathers and scatters, and 90.0 % of its communication time is hidden behind compute"},
      {Kind::parallelism_not_clear, FindingValues().add("collectives", 1),
       "its pattern (1 collective) fits no known parallelism"},
      {Kind::rank_busy_longer,
       FindingValues()
           .add("busy", Milliseconds{2.4})
           .add("busy_of_others", Milliseconds{1.6})
           .add("longer", Milliseconds{0.8})
           .add("by_step", true),
       "when it arrives last, its kernels take 0.8000 ms per step longer (2.4000 ms per step "
       "between collectives; mean of the others 1.6000 ms)"},
      {Kind::rank_launched_later,
       FindingValues()
           .add("later", Milliseconds{0.8})
           .add("by_step", true)
           .add("longer", Milliseconds{0.2}),
       "it launches 0.8000 ms per step later, and its kernels take 0.2000 ms longer"},
      {Kind::rank_launched_later,
       FindingValues().add("later", Milliseconds{0.8}).add("by_step", false),
       "its kernels take as long as the others', but it launches 0.8000 ms later"},
      {Kind::rank_more_tokens, FindingValues().add("tokens", 4).add("tokens_of_others", 1),
       "it processes 4 tokens per step, the others 1 (median)"},
      {Kind::rank_lower_clock,
       FindingValues()
           .add("clock", profile::Hertz{1300e6})
           .add("clock_of_others", profile::Hertz{1980e6}),
       "its SM clock averages 1300 MHz; the others' median is 1980 MHz"},
      {Kind::rank_slower_steps,
       FindingValues().add("step", Milliseconds{3}).add("step_of_others", Milliseconds{2}),
       "its steps take 3.000 ms, the others' 2.000 ms (means)"},
      {Kind::rank_single_delays, FindingValues().add("delays", 1).add("longest", Milliseconds{1}),
       "1 single delay, the longest 1.000 ms"},
      {Kind::rank_cause_not_seen, {}, "neither its kernels nor its launches explain it"},
  };
}

std::vector<Example> examples() {
  std::vector<Example> all;
  for (const auto& theme :
       {detection_examples(), utilization_examples(), basis_examples(), floor_examples(),
        roofline_examples(), counter_examples(), other_examples(), slow_step_examples(),
        host_examples(), job_examples()}) {
    all.insert(all.end(), theme.begin(), theme.end());
  }
  return all;
}

TEST(ReasonWords, AreTheseOfEveryKind) {
  std::map<ReasonKind, size_t> seen;
  for (const Example& example : examples()) {
    ++seen[example.kind];
    EXPECT_EQ(reason_words({make_reason(example.kind, example.values)}), example.words)
        << to_string(example.kind);
  }
  for (const auto& kind : profile::kWords<ReasonKind>) {
    EXPECT_GE(seen[kind.value], 1U) << kind.name << " has no example";
  }
}

// An example has all values that its kind requires, and needs each: without one, a file of another
// version keeps its own words.
TEST(ReasonWords, NeedAllValues) {
  for (const Example& example : examples()) {
    const Reason whole = make_reason(example.kind, example.values);
    for (const std::string_view name :
         profile::kWords<ReasonKind>[static_cast<size_t>(example.kind)].values) {
      Reason without = whole;
      EXPECT_GT(
          std::erase_if(without.values, [&](const auto& value) { return value.name == name; }), 0U);
      EXPECT_EQ(reason_words({without}), std::nullopt)
          << to_string(whole.kind) << " without " << name;
    }
  }
}

TEST(ReasonWords, JoinSeveral) {
  const Reason warmup = make_reason(ReasonKind::all_warmup);
  const Reason no_model = make_reason(ReasonKind::no_model_given);
  EXPECT_EQ(reason_words({warmup, no_model}), "every instance is a warm-up; no --model given");
  const FindingValues softmax = FindingValues().add("layers", 24);
  EXPECT_EQ(reason_words({make_reason(ReasonKind::no_stages),
                          make_reason(ReasonKind::softmax_alone, softmax),
                          make_reason(ReasonKind::nothing_repeats)}),
            "no stages were found: a softmax runs between two GEMMs 24 times, but the kernel "
            "sequence does not repeat as layers and forward passes do");
  EXPECT_EQ(reason_words({make_reason(ReasonKind::own_time_without_floor), no_model, warmup}),
            "its own time; no floor: no --model given; every instance is a warm-up");
  const FindingValues work = FindingValues().add("work", "gemm").add("calls", 2);
  EXPECT_EQ(reason_words({make_reason(ReasonKind::longer_gap, work),
                          make_reason(ReasonKind::host_not_recorded)}),
            "gaps before gemm (2 calls) (no record of the host)");
  EXPECT_EQ(reason_words({}), std::nullopt);
  const Reason unknown{*profile::read_word<ReasonKind>("of_another_version"), {}};
  EXPECT_EQ(reason_words({warmup, unknown}), std::nullopt);
}

// One reason in every place that can have some; its words must replace the text there.
TEST(ReasonWords, FillAllTextsOfAProfile) {
  const profile::Reasons why = {make_reason(ReasonKind::all_warmup)};
  const std::string words = "every instance is a warm-up";
  profile::Profile filled;
  filled.stages_found.reasons = why;
  filled.utilization.why_not_reasons = filled.slow_step_rule_reasons = why;
  filled.roofline.rule_reasons = filled.roofline.why_not_reasons = why;
  filled.operators_found.why_not_reasons = filled.layer_summary.why_not_reasons = why;
  filled.overhead.emplace().collector.emplace().why_not_reasons = why;
  filled.layers.emplace_back().note_reasons = why;
  filled.job.emplace().why_not_reasons = why;
  filled.ranks.emplace_back().stages.emplace_back().why_not_reasons = why;
  filled.ranks[0].stages_found.reasons = why;
  filled.ranks[0].overhead.emplace().collector.emplace().why_not_reasons = why;
  profile::Stage& stage = filled.stages.emplace_back();
  stage.evidence_reasons = stage.why_not_reasons = stage.basis_reasons = why;
  stage.measured.emplace().why_not_reasons = why;
  stage.measured->energy_why_not_reasons = why;
  profile::PotentialSavings& saving = filled.savings.emplace_back();
  saving.bound_reasons = why;
  saving.parts.emplace_back().floor_rule_reasons = why;
  saving.kernels.emplace_back().floor_rule_reasons = why;
  profile::Finding& finding = filled.findings.emplace_back();
  finding.values = std::move(FindingValues().add("gaps", 1).add("floor_rule", "")).take();
  finding.value_reasons = {{1, why}, {2, why}};  // the second is not one of its values
  filled.gaps.emplace_back().host_reasons = why;
  filled.repeated_gaps.emplace_back().longest.host_reasons = why;
  filled.slow_steps.emplace_back().reasons.push_back({"", {}, why});
  word_reasons(filled);
  EXPECT_EQ(filled.gaps[0].host, words);
  EXPECT_EQ(filled.repeated_gaps[0].longest.host, words);
  EXPECT_EQ(filled.slow_steps[0].reasons[0].what, words);
  EXPECT_EQ(filled.stages_found.reason, words);
  EXPECT_EQ(filled.ranks[0].stages_found.reason, words);
  EXPECT_EQ(stage.evidence, words);
  EXPECT_EQ(filled.utilization.why_not, words);
  EXPECT_EQ(filled.slow_step_rule, words);
  EXPECT_EQ(filled.roofline.rule, words);
  EXPECT_EQ(filled.roofline.why_not, words);
  EXPECT_EQ(filled.operators_found.why_not, words);
  EXPECT_EQ(filled.layer_summary.why_not, words);
  EXPECT_EQ(filled.overhead->collector->why_not, words);
  EXPECT_EQ(filled.layers[0].note, words);
  EXPECT_EQ(filled.job->why_not, words);
  EXPECT_EQ(filled.ranks[0].stages[0].why_not, words);
  EXPECT_EQ(filled.ranks[0].overhead->collector->why_not, words);
  EXPECT_EQ(stage.why_not, words);
  EXPECT_EQ(stage.basis, words);
  EXPECT_EQ(stage.measured->why_not, words);
  EXPECT_EQ(stage.measured->energy_why_not, words);
  EXPECT_EQ(saving.bound_reason, words);
  EXPECT_EQ(saving.parts[0].floor_rule, words);
  EXPECT_EQ(saving.kernels[0].floor_rule, words);
  EXPECT_EQ(finding.values[0].text, std::nullopt);
  EXPECT_EQ(finding.values[1].text, words);
}

TEST(ReasonWords, LeaveTextsWithoutReasons) {
  profile::Profile older;
  older.utilization.why_not = "as it was said then";
  word_reasons(older);
  EXPECT_EQ(older.utilization.why_not, "as it was said then");
}

}  // namespace
}  // namespace llmprof::report
