#pragma once

#include "testing/reason_example.h"

// Examples of reasons about utilization, floors, rooflines and counters, with their words.
namespace llmprof::report::reason_examples {

inline FindingValues impossible(std::string_view time) {
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

inline FindingValues all_inputs() {
  FindingValues values = impossible("wall");
  values.add("gpu", "T4")
      .add("captured_gpu", "NVIDIA H200")
      .add("prompt_tokens", 777, "--prompt-tokens")
      .add("batch", 64, "--batch");
  return values;
}

inline FindingValues kernels(double without) {
  return FindingValues().add("kernels_without", without).add("kernels", 12);
}

inline FindingValues decode(double steps) {
  FindingValues values;
  values.add("steps", steps)
      .add("first_context", 777)
      .add("last_context", 800)
      .add("prompt_tokens", 777, "--prompt-tokens")
      .add("batch", 1, "assumed");
  return values;
}

inline FindingValues bytes(std::string_view are) {
  FindingValues values;
  values.add("bytes", profile::Bytes{1600})
      .add("peak_bandwidth", profile::BytesPerSecond{5e9})
      .add("bytes_are", are);
  return values;
}

inline const std::string kImpossible =
    "MBU of decode on busy time would be 112 %, which is impossible: check the model (--model), "
    "its dtype (bf16; KV cache fp8), --tp 1, --pp 1, --ep 1, whether the weights stay in the GPU's "
    "cache, whether the capture misses kernels";

inline std::vector<Example> utilization_examples() {
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

inline std::vector<Example> basis_examples() {
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

inline std::vector<Example> floor_examples() {
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

inline std::vector<Example> roofline_examples() {
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

inline std::vector<Example> counter_examples() {
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

}  // namespace llmprof::report::reason_examples
