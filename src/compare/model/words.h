#pragma once

#include <cstdint>

#include "profile/vocabulary.h"

// The closed sets of names in diff.json.
namespace llmprof::compare {

using profile::to_string;
using profile::vocabulary;

// Verdict on a comparison or a gate's rule; rules are never not_comparable.
enum class Verdict : uint8_t { pass, fail, cannot_tell, not_comparable };
constexpr auto words_of(Verdict /*of*/) {
  using enum Verdict;
  return vocabulary<Verdict>({
      {pass,
       "every rule passes, or none was given; for a rule: the whole interval is within its limit"},
      {fail, "a rule fails: the whole interval is beyond its limit"},
      {cannot_tell, "no rule fails, but one is undecided; or a side is damaged"},
      {not_comparable, "the sides are only listed side by side"},
  });
}

enum class Answer : uint8_t { changed, unchanged, cannot_tell };
constexpr auto words_of(Answer /*of*/) {
  using enum Answer;
  return vocabulary<Answer>({
      {changed, "the interval is beyond the threshold"},
      {unchanged, "the interval is within the threshold"},
  });
}

enum class Direction : uint8_t { better, worse };

// Why no answer is given, regardless of the figures.
enum class NoAnswer : uint8_t {
  damaged,
  shared_cpus,
  recorded_differently,
  not_comparable,
  other_load,
  failed_requests,
};
constexpr auto words_of(NoAnswer /*of*/) {
  using enum NoAnswer;
  return vocabulary<NoAnswer>({
      {damaged, "a side is damaged"},
      {shared_cpus, "other programs used the CPUs"},
      {recorded_differently,
       "the sides were recorded by different tools, or CUDA graphs are hidden on one side"},
      {not_comparable, "the sides are only listed side by side"},
      {other_load, "requests were sent at another rate, at other times or with other prompts"},
      {failed_requests,
       "clearly more requests failed on one side; completed ones are not a fair sample"},
  });
}

enum class Times : uint8_t { untraced, recorded };
constexpr auto words_of(Times /*of*/) {
  return vocabulary<Times>({
      {Times::untraced, "times without profiling, from the same source on both sides", "unwatched"},
  });
}

// How an interval was computed.
enum class Method : uint8_t {
  identical,
  block_bootstrap,
  welch,
  rank_interval,
  one_against_runs,
  none,
  as_recorded,
  from_wall,
  paired_bootstrap,
  both_intervals,
  counted,
};
constexpr auto words_of(Method /*of*/) {
  using enum Method;
  return vocabulary<Method>({
      {identical, "both sides have the same values"},
      {block_bootstrap, "bootstrap over the values of one run per side"},
      {welch, "Welch's t: few values, or fewer than five runs per side"},
      {rank_interval, "Mann-Whitney: five runs per side or more"},
      {one_against_runs, "one run against the variation of several"},
      {none, "one value per side, or too few for a percentile"},
      {as_recorded, "single runs without profiling: assumed to vary like the recorded times"},
      {from_wall, "interval of the wall time that it is computed from"},
      {paired_bootstrap, "bootstrap over requests that were sent to both sides of one run each"},
      {both_intervals, "the sides' own intervals together"},
      {counted, "bytes of one run per side: taken as exact"},
  });
}

// How kernels changed, and the causes of a stage's difference.
enum class ChangeKind : uint8_t {
  matched,
  replaced,
  fused,
  split,
  added,
  removed,
  same_kernels,
  launches,
  idle,
  other_parts,
  overlap,
};
constexpr auto words_of(ChangeKind /*of*/) {
  using enum ChangeKind;
  return vocabulary<ChangeKind>({
      {matched, "the same kernel"},
      {replaced, "another kernel at the same position"},
      {fused, "several kernels became fewer"},
      {split, "fewer kernels became several"},
      {added, "only the new side has it"},
      {removed, "only the base side has it"},
      {same_kernels, "cause: launches of matched kernels of a class take longer or shorter"},
      {launches, "cause: more or fewer launches of the same kernels"},
      {idle, "cause: idle time"},
      {other_parts, "cause: copies, hidden graphs"},
      {overlap, "cause: kernels that run at the same time"},
  });
}

// What shows that kernels of both sides do the same work. The page shows the meanings.
enum class MatchedBy : uint8_t { nothing, name_and_place, place, class_and_shape, name, one_class };
constexpr auto words_of(MatchedBy /*of*/) {
  using enum MatchedBy;
  return vocabulary<MatchedBy>({
      {nothing, "added or removed", ""},
      {name_and_place, "name and place in the sequence"},
      {place, "place in the sequence"},
      {class_and_shape, "class and launch shape"},
      {name, "name"},
      {one_class, "class", "class"},
  });
}

// The statistic that is compared.
enum class Statistic : uint8_t { shift, mean, p50, p90, p99 };
constexpr auto words_of(Statistic /*of*/) {
  return vocabulary<Statistic>({
      {Statistic::shift, "Hodges-Lehmann: the median of all differences between the sides' values"},
      {Statistic::mean, "unless a gate rule names another"},
  });
}

enum class ComparedUnit : uint8_t { ms, tokens_per_s, fraction, requests_per_s, bytes };
constexpr auto words_of(ComparedUnit /*of*/) {
  return vocabulary<ComparedUnit>({
      {ComparedUnit::tokens_per_s, "", "tokens/s"},
      {ComparedUnit::requests_per_s, "", "requests/s"},
  });
}

// Memory that a gate rule can name, beside the parts of the ledger.
enum class MemoryFigure : uint8_t {
  peak,
  after_load,
  steady_decode,
  end,
  pytorch_peak,
  pytorch_reserved,
};
constexpr auto words_of(MemoryFigure /*of*/) {
  using enum MemoryFigure;
  return vocabulary<MemoryFigure>({
      {peak, "used at the peak of the run, without other processes"},
      {after_load, "used after loading, without other processes"},
      {steady_decode, "used in the middle of the longest decode, without other processes"},
      {end, "used at the end, without other processes"},
      {pytorch_peak, "highest active bytes in PyTorch's memory snapshots"},
      {pytorch_reserved, "highest reserved bytes in PyTorch's memory snapshots"},
  });
}

// What PyTorch's memory snapshots state of a GPU.
enum class PytorchMemory : uint8_t {
  peak_active,
  peak_reserved,
  reserved,
  allocated,
  inactive,
  private_pools,
};
constexpr auto words_of(PytorchMemory /*of*/) {
  using enum PytorchMemory;
  return vocabulary<PytorchMemory>({
      {peak_active, "highest active bytes"},
      {peak_reserved, "highest reserved bytes"},
      {reserved, "held from the driver at the snapshot"},
      {allocated, "blocks in use at the snapshot"},
      {inactive, "reserved but not active at the snapshot"},
      {private_pools, "reserved by private pools at the snapshot"},
  });
}

// What varies between the values that an interval is computed from.
enum class NoiseOf : uint8_t { runs, steps, instances, requests };

enum class ContextBy : uint8_t { context_tokens, step_of_instance };
constexpr auto words_of(ContextBy /*of*/) {
  return vocabulary<ContextBy>({
      {ContextBy::context_tokens, "per sequence"},
      {ContextBy::step_of_instance, "if the context is unknown"},
  });
}

enum class ComparedRow : uint8_t { steps, instances };

// Why steps or instances are excluded from comparisons.
enum class Exclusion : uint8_t {
  warm_up,
  first_step,
  after_untraced,
  cut_off,
  clocks_lowered,
  no_counterpart,
  outside_context_range,
  too_few,
};
constexpr auto words_of(Exclusion /*of*/) {
  using enum Exclusion;
  return vocabulary<Exclusion>({
      {first_step, "of an instance with several"},
      {after_untraced, "the previous step was not traced"},
      {cut_off, "recording ended in its instance"},
      {clocks_lowered,
       "by heat, power or hardware; kept if that applies to more than half of a side"},
      {no_counterpart,
       "not every run has steps of this kind, batch and tokens, or instances with as many steps"},
  });
}

enum class RunKind : uint8_t { profile, run, capture };

// What may make two sides incomparable. Reports print the meanings.
enum class AspectKind : uint8_t {
  device_kind,
  gpu,
  gpu_count,
  ranks,
  clocks,
  driver,
  cuda,
  throttling,
  model,
  dtype,
  prompt_tokens,
  new_tokens,
  batch,
  parallelism,
  selection,
  engine,
  kernel_source,
  recording,
  recording_version,
  hidden_graphs,
  stage_source,
  stages,
  coverage,
  untraced,
  cpu_peaks,
  shared_cpus,
  load,
  schedule,
  prompts,
  failed_requests,
  output_tokens,
  gpu_memory,
  memory_ledger,
  memory_snapshot,
};
constexpr auto words_of(AspectKind /*of*/) {
  using enum AspectKind;
  return vocabulary<AspectKind>({
      {device_kind, "the kind of device"},
      {gpu, "the processor"},
      {gpu_count, "the number of devices"},
      {ranks, "the ranks of the job"},
      {clocks, "the mean SM clock"},
      {driver, "the GPU driver"},
      {cuda, "the CUDA version"},
      {throttling, "steps with clocks lowered by heat, power or hardware"},
      {model, "the model"},
      {dtype, "the number formats"},
      {prompt_tokens, "prompt tokens per sequence"},
      {new_tokens, "new tokens per sequence"},
      {batch, "the batch"},
      {parallelism, "the parallelism"},
      {selection, "the selected part"},
      {engine, "the engine"},
      {kernel_source, "source of kernel times"},
      {recording, "the recording tool"},
      {recording_version, "the version of the recording tool"},
      {hidden_graphs, "detail recorded of CUDA graphs"},
      {stage_source, "how stages were found"},
      {stages, "the stages"},
      {coverage, "the coverage by stages"},
      {untraced, "the time without profiling", "unwatched"},
      {cpu_peaks,
       "the measured peaks of the CPU (MFU and MBU are of the higher ones on both sides)"},
      {shared_cpus, "CPUs used by other programs during the run"},
      {load, "how requests were sent (they are not compared)"},
      {schedule, "when requests were sent, as by another seed (they are not compared)"},
      {prompts, "prompt tokens of requests (they are not compared)"},
      {failed_requests, "requests that did not complete"},
      {output_tokens, "output tokens of requests"},
      {gpu_memory, "the memory of the GPUs"},
      {memory_ledger, "whether the use of GPU memory was recorded"},
      {memory_snapshot, "whether there is a memory snapshot of PyTorch"},
  });
}

// What happened to a finding or to a row of memory, in report order.
enum class Fate : uint8_t { gone, fresh, smaller, larger, same };
constexpr auto words_of(Fate /*of*/) {
  using enum Fate;
  return vocabulary<Fate>({
      {fresh, "", "new"},
      {smaller, "by more than the threshold"},
      {larger, "by more than the threshold"},
  });
}

enum class SideName : uint8_t { base, now };
constexpr auto words_of(SideName /*of*/) {
  return vocabulary<SideName>({{SideName::now, "", "new"}});
}

// The unit that times refer to.
enum class TimeUnit : uint8_t { step, instance, capture };
constexpr auto words_of(TimeUnit /*of*/) {
  return vocabulary<TimeUnit>(
      {{TimeUnit::step, "one forward pass; in decode, one token per sequence"}});
}

}  // namespace llmprof::compare
