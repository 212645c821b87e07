#pragma once

#include "testing/reason_example.h"

// Examples of reasons about stages, steps, the host and ranks, with their words.
namespace llmprof::report::reason_examples {

inline std::vector<Example> detection_examples() {
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

inline std::vector<Example> other_examples() {
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

inline std::vector<Example> slow_step_examples() {
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

inline std::vector<Example> host_examples() {
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

inline std::vector<Example> request_examples() {
  using Kind = ReasonKind;
  return {
      {Kind::decode_alone_estimated,
       {},
       "no step of a single sequence was recorded: own decode is estimated from larger steps"},
      {Kind::mixed_steps_by_tokens, FindingValues().add("steps", 3),
       "3 steps with prompts and sequences in decode: no decode step of that size was recorded, so "
       "that tokens divide its time"},
  };
}

inline std::vector<Example> job_examples() {
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

}  // namespace llmprof::report::reason_examples
