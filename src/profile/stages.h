#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/kernels.h"
#include "profile/measured.h"
#include "profile/quantity.h"
#include "profile/reasons.h"

namespace llmprof::profile {

struct StagesFound {
  std::optional<bool> serving;
  std::optional<Share> confidence;
  std::optional<std::string> reason;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("serving", &StagesFound::serving,
          "instances are an engine's steps (continuous batching); null without stages");
    field("confidence", &StagesFound::confidence, "of detected stages");
    field("reason", &StagesFound::reason, "how they were found, or why there are none");
  }
};

struct Coverage {
  uint64_t kernels = 0;
  uint64_t kernels_in_stages = 0;
  std::optional<Share> kernels_share;
  Milliseconds kernel_sum;
  Milliseconds kernel_sum_in_stages;
  std::optional<Share> kernel_sum_share;
  Milliseconds hidden_graph;
  Milliseconds hidden_graph_in_stages;
  bool representative = true;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("kernels", &Coverage::kernels, "of the timeline");
    field("kernels_in_stages", &Coverage::kernels_in_stages, "of them, inside stages");
    field("kernels_share", &Coverage::kernels_share, "the second over the first");
    field("kernel_sum_ms", &Coverage::kernel_sum, "time of all kernels");
    field("kernel_sum_in_stages_ms", &Coverage::kernel_sum_in_stages, "of those inside stages");
    field("kernel_sum_share", &Coverage::kernel_sum_share, "the second over the first");
    field("hidden_graph_ms", &Coverage::hidden_graph,
          "time of graph replays whose kernels were not recorded");
    field("hidden_graph_in_stages_ms", &Coverage::hidden_graph_in_stages, "of those inside stages");
    field("representative", &Coverage::representative,
          "the stages hold at least 0.9 of the time of all kernels");
  }
};

struct BatchTimes {
  uint64_t batch = 0;
  Statistics<Milliseconds> step_wall;
  std::optional<TokensPerSecond> tokens_per_s;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("batch", &BatchTimes::batch, "sequences in the step");
    field("step_wall_ms", &BatchTimes::step_wall, "wall time of decode steps");
    field("tokens_per_s", &BatchTimes::tokens_per_s, "batch over the mean step");
  }
};

// What an engine's requests saw while it was recorded without a break.
struct ServedWindow {
  Milliseconds start;
  Milliseconds span;
  uint64_t batches = 0;
  uint64_t passes = 0;
  double sequences_mean = 0;
  uint64_t sequences_max = 0;
  uint64_t prompts = 0;
  std::optional<Milliseconds> prompt;
  uint64_t tokens = 0;
  std::optional<Milliseconds> token;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("start_ms", &ServedWindow::start, "of its first pass, on the capture's clock");
    field("span_ms", &ServedWindow::span, "from there until the host had chosen the last token");
    field("batches", &ServedWindow::batches,
          "passes up to a result that the host waited for: one token for each sequence");
    field("passes", &ServedWindow::passes, "in all batches");
    field("sequences_mean", &ServedWindow::sequences_mean, "that get a token, per batch");
    field("sequences_max", &ServedWindow::sequences_max, "that get a token in one batch");
    field("prompts", &ServedWindow::prompts, "sequences that got their first token");
    field("prompt_ms", &ServedWindow::prompt,
          "mean over prompts, from the begin of their first batch to their first token; as "
          "recorded");
    field("tokens", &ServedWindow::tokens, "that followed another one of their sequence");
    field("token_ms", &ServedWindow::token,
          "mean over tokens, from the one before in the same sequence; as recorded");
  }
};

struct TokenTimes {
  std::optional<Statistics<Milliseconds>> time_to_first_token;
  std::optional<Statistics<Milliseconds>> time_per_output_token;
  std::optional<Milliseconds> request;
  std::optional<TokensPerSecond> tokens_per_s_per_sequence;
  std::optional<TokensPerSecond> tokens_per_s;
  std::optional<Share> gpu_busy_share_of_wall;
  std::vector<BatchTimes> by_batch;
  std::vector<ServedWindow> served;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("time_to_first_token_ms", &TokenTimes::time_to_first_token, "of prefills");
    field("time_per_output_token_ms", &TokenTimes::time_per_output_token,
          "of decodes: wall time over steps");
    field(
        "request_ms", &TokenTimes::request,
        "mean prefill plus mean decode; null under continuous batching and where --steps narrowed");
    field("tokens_per_s_per_sequence", &TokenTimes::tokens_per_s_per_sequence,
          "1 over the mean time per output token");
    field("tokens_per_s", &TokenTimes::tokens_per_s,
          "the same times the batch; null where the batch is not known");
    field("gpu_busy_share_of_wall", &TokenTimes::gpu_busy_share_of_wall,
          "of all stages' wall time, less what was not traced");
    field("by_batch", &TokenTimes::by_batch, "decode steps by the number of sequences in them");
    field("served", &TokenTimes::served,
          "an engine's requests, one entry per window of recording that somebody opened; empty "
          "where passes do not tell which sequences get a token");
  }
};

// One occurrence of a stage on one GPU.
struct Instance {
  Milliseconds start;
  WholeNanoseconds start_ns;
  Milliseconds wall;
  Milliseconds range;
  Milliseconds gpu_sum;
  Milliseconds gpu_busy;
  Milliseconds memory_sum;
  Milliseconds hidden_graph_sum;
  uint64_t kernel_count = 0;
  uint64_t steps = 0;
  uint64_t untraced_steps = 0;
  bool warmup = false;
  std::optional<std::string> device;
  std::optional<ByName<WholeNanoseconds>> budget;
  ByName<WholeNanoseconds> classes;
  std::optional<bool> clocks_lowered;
  bool cut_off = false;
  std::optional<std::string> warmup_reason;
  bool captures_graph = false;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("start_ms", &Instance::start, "on the capture's clock");
    field("start_ns", &Instance::start_ns, "the same, exact");
    field("wall_ms", &Instance::wall,
          "from start to the later of its range's end and its last GPU work");
    field("range_ms", &Instance::range, "the range's own duration");
    field("gpu_sum_ms", &Instance::gpu_sum, "time of its kernels; overlapping ones count in full");
    field("gpu_busy_ms", &Instance::gpu_busy, "union of kernels, copies and graph replays");
    field("memory_sum_ms", &Instance::memory_sum, "time of copies and fills");
    field("hidden_graph_sum_ms", &Instance::hidden_graph_sum,
          "time of graph replays whose kernels were not recorded");
    field("kernel_count", &Instance::kernel_count, "kernels");
    field("steps", &Instance::steps, "that were traced");
    field("untraced_steps", &Instance::untraced_steps,
          "beside them: the collector was not tracing");
    field("warmup", &Instance::warmup, "excluded from all statistics");
    field("device", &Instance::device, "null where no GPU work belongs to it");
    field("budget_ns", &Instance::budget,
          "by part; they sum to the wall time; parts of 0 are left out");
    field("classes_ns", &Instance::classes,
          "time of its kernels by class, overlap not removed; they sum to gpu_sum_ms");
    field("clocks_lowered", &Instance::clocks_lowered,
          "heat, power or hardware lowered the GPU's clocks, by a reading within the instance or "
          "less than a second before; null without one");
    field("cut_off", &Instance::cut_off, "its range had not ended when recording did");
    field("warmup_reason", &Instance::warmup_reason,
          "told (a range of the program), fewer_steps, longer (than the later ones), "
          "leading_steps (a few slow ones before a decode), before_pause (an engine's slower "
          "steps), first_of_kind (much slower than later ones with as much GPU work), cut_off "
          "(recording did not see all of it); null where it is no warm-up");
    field("captures_graph", &Instance::captures_graph,
          "a warm-up in which a CUDA graph is captured: the program's own clock may count it");
  }
};

struct CostPart {
  std::string part;
  Flops flops;
  Bytes weight_bytes;
  Bytes kv_bytes;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("part", &CostPart::part, "of the model");
    field("flops", &CostPart::flops, "per instance");
    field("weight_bytes", &CostPart::weight_bytes, "per instance");
    field("kv_bytes", &CostPart::kv_bytes, "per instance");
  }
};

struct RecordedWork {
  Flops flops;
  Bytes bytes;
  std::optional<Share> flops_over_model;
  Ratios mfu;
  Ratios mbu;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("flops", &RecordedWork::flops, "of CPU operators, per instance");
    field("bytes", &RecordedWork::bytes, "of CPU operators, per instance");
    field("flops_over_model", &RecordedWork::flops_over_model, "recorded FLOPs over the model's");
    field("mfu", &RecordedWork::mfu, "by the recorded FLOPs");
    field("mbu", &RecordedWork::mbu, "by the recorded bytes");
  }
};

struct StageTracing {
  uint64_t steps_traced = 0;
  uint64_t steps_all = 0;
  std::optional<Share> share_of_steps;
  std::optional<Milliseconds> not_traced;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("steps_traced", &StageTracing::steps_traced, "steps that the collector traced");
    field("steps_all", &StageTracing::steps_all, "all steps");
    field("share_of_steps", &StageTracing::share_of_steps,
          "the first over the second; null where the stage has no steps");
    field("not_traced_ms", &StageTracing::not_traced, "of the wall time, per instance, mean");
  }
};

struct BudgetPart {
  std::string part;
  Milliseconds time;
  Share share;
  Share share_of_traced;
  std::optional<Milliseconds> per_step;
  WholeNanoseconds total_ns;
  bool idle = false;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("part", &BudgetPart::part, "a kernel class, or one of the parts named below");
    field("ms", &BudgetPart::time, "per instance, mean; the parts sum to wall_ms.mean");
    field("share", &BudgetPart::share, "of wall time");
    field("share_of_traced", &BudgetPart::share_of_traced,
          "of wall time less what was not traced; 0 of that part itself");
    field("ms_per_step", &BudgetPart::per_step,
          "over the traced decode steps; null of what was not traced");
    field("total_ns", &BudgetPart::total_ns, "over all instances, exact");
    field("idle", &BudgetPart::idle, "the GPU does no work in this part");
  }
};

struct UnwatchedPart {
  std::string part;
  Milliseconds time;
  Share share;
  std::optional<Milliseconds> per_step;
  bool idle = false;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("part", &UnwatchedPart::part, "as in budget");
    field("ms", &UnwatchedPart::time, "per instance, mean; the parts sum to wall_ms");
    field("share", &UnwatchedPart::share, "of wall_ms");
    field("ms_per_step", &UnwatchedPart::per_step, "of decode");
    field("idle", &UnwatchedPart::idle, "the GPU does no work in this part");
  }
};

// A stage of the program without profiling.
struct Unwatched {
  std::string source;
  Milliseconds wall;
  std::optional<Milliseconds> per_step;
  Milliseconds added;
  Share added_share;
  Milliseconds busy;
  Milliseconds idle;
  Share idle_share;
  bool busy_scaled = false;
  uint64_t passes_timed = 0;
  uint64_t instances_timed = 0;
  uint64_t steps_recorded = 0;
  uint64_t steps_all = 0;
  std::vector<UnwatchedPart> budget;

  template <class Visitor>
  static void fields(Visitor& field) {
    field(
        "source", &Unwatched::source,
        "workload_clock (the workload timed the stage itself, in the control run), "
        "between_windows (the recorded run, while nothing was traced), control_launches (the same "
        "launches in the control run)");
    field("wall_ms", &Unwatched::wall, "per instance, mean");
    field("wall_ms_per_step", &Unwatched::per_step, "of decode");
    field("added_by_tracing_ms", &Unwatched::added, "mean recorded wall time less wall_ms");
    field("added_by_tracing_share", &Unwatched::added_share, "of wall_ms");
    field("gpu_busy_ms", &Unwatched::busy, "per instance, mean, as recorded");
    field("idle_ms", &Unwatched::idle, "wall_ms less gpu_busy_ms");
    field("idle_share_of_wall", &Unwatched::idle_share, "of wall_ms");
    field("busy_scaled", &Unwatched::busy_scaled,
          "the GPU was busy for longer under tracing than the whole took without: its parts are "
          "scaled down to wall_ms");
    field("passes_timed", &Unwatched::passes_timed,
          "forward passes that wall_ms is of; 0: the workload's own clock");
    field("instances_timed", &Unwatched::instances_timed,
          "instances that wall_ms is the mean of; 0: the mean pass times the passes per instance");
    field("steps_recorded", &Unwatched::steps_recorded, "steps that busy times are of");
    field("steps_all", &Unwatched::steps_all,
          "steps of the run, recorded or not, as far as they were recognized");
    field("budget", &Unwatched::budget,
          "largest first, without parts of 0: busy parts as recorded, idle ones scaled from the "
          "recorded ones to idle_ms");
  }
};

// What tracing is likely to have added where nothing tells the unwatched times.
struct LikelyAdded {
  uint64_t kernels = 0;
  uint64_t graph_kernels = 0;
  Milliseconds low;
  Milliseconds high;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("kernels", &LikelyAdded::kernels, "per instance, mean");
    field("graph_kernels", &LikelyAdded::graph_kernels, "of them, replayed from CUDA graphs");
    field("low_ms", &LikelyAdded::low, "per instance");
    field("high_ms", &LikelyAdded::high, "per instance, at most the idle time");
  }
};

// What a stage's numbers mean, by fixed thresholds.
struct StageJudgement {
  std::optional<std::string> idle;
  bool mostly_idle = false;
  bool waits_for_host = false;
  std::optional<std::string> limit;

  template <class Visitor>
  static void fields(Visitor& field) {
    using Self = StageJudgement;
    field("idle", &Self::idle,
          "idle_share_of_wall: little (below 0.05), some, much (0.25 and more); null without a "
          "budget");
    field("mostly_idle", &Self::mostly_idle,
          "the idle parts together are longer than the largest part that is work");
    field("waits_for_host", &Self::waits_for_host,
          "more than half of the idle time is caused by the host");
    field("limit", &Self::limit,
          "of the peak that bounds the stage it uses, on wall time: room (less than 0.7), near, or "
          "implausible (near, although much is idle); null where MFU or MBU is missing");
  }
};

// In order of first occurrence. All but instances and the counts exclude warm-up.
struct Stage {
  std::string name;
  std::string source;
  std::optional<std::string> evidence;
  std::vector<Instance> instances;
  uint64_t instance_count = 0;
  uint64_t warmup_count = 0;
  uint64_t step_count = 0;
  Share share_of_stage_time;
  Statistics<Milliseconds> wall;
  Statistics<Milliseconds> gpu_sum;
  Statistics<Milliseconds> gpu_busy;
  std::optional<Share> gpu_busy_share_of_wall;
  std::optional<Milliseconds> idle;
  std::optional<Share> idle_share_of_wall;
  Statistics<double> kernel_count;
  std::optional<Statistics<Milliseconds>> step_wall;
  uint64_t decode_step_count = 0;
  std::optional<Milliseconds> wall_per_step;
  std::optional<Flops> flops;
  std::optional<Bytes> bytes;
  Ratios mfu;
  Ratios mbu;
  std::optional<std::string> why_not;
  std::optional<std::string> basis;
  std::vector<CostPart> cost;
  std::optional<FlopsPerSecond> peak_flops;
  std::optional<std::string> peak_name;
  std::optional<BytesPerSecond> peak_bandwidth;
  bool from_operators = false;
  std::optional<RecordedWork> recorded;
  std::optional<Milliseconds> floor;
  std::optional<double> wall_over_floor;
  std::optional<bool> memory_bound;
  std::optional<FlopsPerByte> flops_per_byte;
  std::optional<FlopsPerByte> ridge;
  std::optional<StageTracing> tracing;
  std::optional<Measured> measured;
  std::optional<std::vector<BudgetPart>> budget;
  std::optional<Unwatched> unwatched;
  std::optional<std::string> unwatched_why_not;
  std::optional<LikelyAdded> likely_added;
  StageJudgement judgement;
  Reasons why_not_reasons;
  Reasons basis_reasons;
  std::optional<Milliseconds> wall_with_captures;
  bool only_the_first = false;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("name", &Stage::name,
          "prefill, decode, mixed, or a configured one; unique, and so the stage's key");
    field("source", &Stage::source,
          "nvtx (NVTX ranges of the program), annotation (those of our own log, an engine's or "
          "PyTorch's), detected (the kernel sequence alone)");
    field("evidence", &Stage::evidence, "the range's label, or how it was detected");
    field("instances", &Stage::instances, "all, by start");
    field("instance_count", &Stage::instance_count, "all instances");
    field("warmup_count", &Stage::warmup_count, "of them, warm-up");
    field("step_count", &Stage::step_count, "steps of the others, traced");
    field("share_of_stage_time", &Stage::share_of_stage_time,
          "its wall time over that of all stages");
    field("wall_ms", &Stage::wall, "of instances");
    field("gpu_sum_ms", &Stage::gpu_sum, "of instances");
    field("gpu_busy_ms", &Stage::gpu_busy, "of instances");
    field("gpu_busy_share_of_wall", &Stage::gpu_busy_share_of_wall,
          "of wall time less what was not traced");
    field("idle_ms", &Stage::idle, "the budget's idle parts, per instance, mean");
    field("idle_share_of_wall", &Stage::idle_share_of_wall,
          "of wall time less what was not traced");
    field("kernel_count", &Stage::kernel_count, "of instances");
    field("step_wall_ms", &Stage::step_wall, "of steps whose wall time is known");
    field("decode_step_count", &Stage::decode_step_count,
          "of the traced steps, those that give a token for each sequence");
    field("wall_ms_per_step", &Stage::wall_per_step, "over all decode steps, traced or not");
    field("flops", &Stage::flops,
          "what the model needs on one GPU per instance; without a model, what CPU operators "
          "recorded (from_operators is true)");
    field("bytes", &Stage::bytes, "likewise");
    field("mfu", &Stage::mfu,
          "FLOPs over what the dense peak could compute in that time; of a CPU's measured peak, "
          "which it may exceed by up to a tenth");
    field("mbu", &Stage::mbu, "bytes over what the peak bandwidth could move in that time");
    field("why_not", &Stage::why_not, "why MFU and MBU are missing");
    field("basis", &Stage::basis, "the passes that were counted");
    field("cost", &Stage::cost, "by part of the model");
    field("peak_flops_per_s", &Stage::peak_flops, "what MFU is measured against");
    field("peak_name", &Stage::peak_name, "\"bf16 dense\"");
    field("peak_bandwidth_bytes_per_s", &Stage::peak_bandwidth, "what MBU is measured against");
    field("from_operators", &Stage::from_operators,
          "flops and bytes are what CPU operators recorded");
    field("recorded", &Stage::recorded,
          "null, or what CPU operators recorded beside the model's cost");
    field("floor_ms", &Stage::floor,
          "lower bound of an instance: the longer of FLOPs and bytes at peak");
    field("wall_over_floor", &Stage::wall_over_floor, "mean wall time over the floor");
    field("memory_bound", &Stage::memory_bound, "the floor is by bytes");
    field("flops_per_byte", &Stage::flops_per_byte, "the model's arithmetic intensity");
    field("ridge_flops_per_byte", &Stage::ridge, "the GPU's ridge point");
    field("tracing", &Stage::tracing,
          "null where all of it was traced; else kernel times and counts, busy times and layers "
          "are of the traced steps alone, wall times and tokens of all");
    field("measured", &Stage::measured, "null, or what the GPU's counters and sensors say");
    field("budget", &Stage::budget, "largest first, without parts of 0; null without budgets");
    field("unwatched", &Stage::unwatched,
          "the stage without profiling, null where that is not known: what reports show first. "
          "wall_ms, instances and budget stay as recorded");
    field("unwatched_why_not", &Stage::unwatched_why_not,
          "no_other_time (only the recorded run was timed), launches_differ (its passes were not "
          "found where nothing was traced), does_not_fit (the time found is not of the same work), "
          "selection, warmup_only, cpu_operators (the program notes them itself, so that its times "
          "are as without recording; stage1 has those of the control run); null where unwatched is "
          "known");
    field(
        "likely_added", &Stage::likely_added,
        "what tracing is likely to have added to an instance, where unwatched is null; null for a "
        "CPU");
    field("judgement", &Stage::judgement,
          "what these numbers mean, of the unwatched program where it is known");
    field("why_not_reasons", &Stage::why_not_reasons, "why_not as kinds and values");
    field("basis_reasons", &Stage::basis_reasons, "basis as kinds and values");
    field("wall_ms_with_graph_captures", &Stage::wall_with_captures,
          "mean wall time with the warm-up instances in which a CUDA graph is captured; null "
          "without any");
    field("only_the_first", &Stage::only_the_first,
          "the only instance that was recorded is the program's first, and later ones may have "
          "run while nothing was traced: its times are those of a cold start");
  }
};

// A part inside a stage (vision tower, projector).
struct StageNote {
  std::string stage;
  std::string name;
  uint64_t instances = 0;
  Milliseconds range;
  uint64_t kernel_count = 0;
  Milliseconds gpu_sum;

  template <class Visitor>
  static void fields(Visitor& field) {
    field("stage", &StageNote::stage, "that it is a part of");
    field("name", &StageNote::name, "vision, projector, ...");
    field("instances", &StageNote::instances, "occurrences");
    field("range_ms", &StageNote::range,
          "CPU duration of its ranges; of detected ones from first kernel to last");
    field("kernel_count", &StageNote::kernel_count, "kernels in all of them");
    field("gpu_sum_ms", &StageNote::gpu_sum, "their time");
  }
};

}  // namespace llmprof::profile
