#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/kernels.h"
#include "profile/measured.h"
#include "profile/quantity.h"
#include "profile/reasons.h"
#include "profile/untraced.h"
#include "profile/vocabulary.h"

namespace llmprof::profile {

// The name of a detected stage whose passes are not known to generate tokens.
inline constexpr std::string_view kForwardStage = "forward";

enum class StageSource : uint8_t { nvtx, annotation, detected, captured };
constexpr auto words_of(StageSource /*of*/) {
  using enum StageSource;
  return vocabulary<StageSource>({
      {nvtx, "NVTX ranges that the program set"},
      {annotation, "ranges of our own log, an engine's or PyTorch's annotations"},
      {detected, "the kernel sequence, without annotations"},
      {captured, "for layers only: ranges that were open when the CUDA graph was captured"},
  });
}

// How reliable detected stages are: how many independent checks hold.
enum class ConfidenceLevel : uint8_t { high, medium, low };

// Why an instance is warm-up.
enum class WarmupReason : uint8_t {
  annotated,
  fewer_steps,
  longer,
  leading_steps,
  before_pause,
  first_of_kind,
  cut_off,
};
constexpr auto words_of(WarmupReason /*of*/) {
  using enum WarmupReason;
  return vocabulary<WarmupReason>({
      {annotated, "the program marks it as warm-up", "told"},
      {fewer_steps, "fewer steps than later instances"},
      {longer, "longer than later instances"},
      {leading_steps, "a few slow steps before a decode"},
      {before_pause, "an engine's slower steps before a long pause"},
      {first_of_kind, "much slower than later steps with as much GPU work"},
      {cut_off, "only a part of it was recorded"},
  });
}

struct StagesFound {
  std::optional<bool> serving;
  std::optional<Share> confidence;
  std::optional<ConfidenceLevel> confidence_level;
  std::optional<std::string> reason;
  Reasons reasons;

  void fields(auto& field) const {
    field("serving", serving,
          "true if instances are an engine's steps (continuous batching); null without stages");
    field("confidence", confidence,
          "confidence in detected stages: the share of correct ones among other captures of the "
          "same level; null if annotated");
    field("confidence_level", confidence_level,
          "by how many independent checks hold; null if not detected");
    field("reason", reason, "how stages were found, or why there are none");
    field("reasons", reasons, "the kinds and values of reason");
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
  uint64_t initialization_kernels = 0;
  Milliseconds initialization_sum;
  uint64_t work_kernels = 0;
  std::optional<Share> work_kernels_share;
  Milliseconds work_sum;
  std::optional<Share> work_sum_share;
  bool representative = true;
  std::optional<Share> shown_share = {};

  void fields(auto& field) const {
    field("kernels", kernels, "kernels in the timeline");
    field("kernels_in_stages", kernels_in_stages, "kernels inside stages");
    field("kernels_share", kernels_share, "kernels_in_stages over kernels");
    field("kernel_sum_ms", kernel_sum, "time of all kernels");
    field("kernel_sum_in_stages_ms", kernel_sum_in_stages, "time of kernels inside stages");
    field("kernel_sum_share", kernel_sum_share, "kernel_sum_in_stages_ms over kernel_sum_ms");
    field("hidden_graph_ms", hidden_graph, "time of graph replays whose kernels were not recorded");
    field("hidden_graph_in_stages_ms", hidden_graph_in_stages,
          "time of such replays inside stages");
    field("initialization_kernels", initialization_kernels,
          "kernels before the first stage: creating weights, warming up");
    field("initialization_ms", initialization_sum, "time of kernels before the first stage");
    field("work_kernels", work_kernels, "kernels after initialization");
    field("work_kernels_share", work_kernels_share, "kernels_in_stages over work_kernels");
    field("work_ms", work_sum, "time of kernels after initialization");
    field("work_share", work_sum_share, "kernel_sum_in_stages_ms over work_ms");
    field("representative", representative,
          "stages hold at least 0.9 of the kernel time after initialization");
    field("shown_share", shown_share,
          "share that reports show: work_share, or kernel_sum_share if that is null");
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
  std::optional<ByWord<TimePart, WholeNanoseconds>> budget;
  ByWord<KernelClass, WholeNanoseconds> classes;
  std::optional<bool> clocks_lowered;
  bool cut_off = false;
  std::optional<WarmupReason> warmup_reason;
  bool captures_graph = false;

  void fields(auto& field) const {
    field("start_ms", start, "start, on the capture's clock");
    field("start_ns", start_ns, "start_ms, exact");
    field("wall_ms", wall, "from start to the later of its range's end and its last GPU work");
    field("range_ms", range, "duration of its range");
    field("gpu_sum_ms", gpu_sum, "time of its kernels; overlapping ones count in full");
    field("gpu_busy_ms", gpu_busy, "union of kernels, copies and graph replays");
    field("memory_sum_ms", memory_sum, "time of copies and fills");
    field("hidden_graph_sum_ms", hidden_graph_sum,
          "time of graph replays whose kernels were not recorded");
    field("kernel_count", kernel_count, "kernels");
    field("steps", steps, "traced steps");
    field("untraced_steps", untraced_steps, "steps that the collector did not trace");
    field("warmup", warmup, "true if excluded from all statistics");
    field("device", device, "device that it ran on; null without GPU work");
    field("budget_ns", budget,
          "time by part of the budget, without parts of 0; they sum to the wall time");
    field("classes_ns", classes,
          "time of its kernels by class, overlap not removed; they sum to gpu_sum_ms");
    field("clocks_lowered", clocks_lowered,
          "heat, power or hardware lowered the GPU's clocks, according to a reading within the "
          "instance or less than a second before; null without a reading");
    field("cut_off", cut_off, "its range had not ended when recording did");
    field("warmup_reason", warmup_reason, "why it is excluded; null unless warmup is true");
    field("captures_graph", captures_graph,
          "true for a warm-up in which a CUDA graph is captured; the program's own clock may count "
          "it");
  }
};

struct CostPart {
  std::string part;
  Flops flops;
  Bytes weight_bytes;
  Bytes kv_bytes;
  Bytes bytes = {};

  void fields(auto& field) const {
    field("part", part, "part of the model");
    field("flops", flops, "FLOPs per instance");
    field("weight_bytes", weight_bytes, "bytes of weights read per instance");
    field("kv_bytes", kv_bytes, "bytes of KV cache read and written per instance");
    field("bytes", bytes, "weight_bytes plus kv_bytes");
  }
};

struct RecordedWork {
  Flops flops;
  Bytes bytes;
  std::optional<Share> flops_over_model;
  Ratios mfu;
  Ratios mbu;

  void fields(auto& field) const {
    field("flops", flops, "FLOPs that CPU operators recorded, per instance");
    field("bytes", bytes, "bytes that CPU operators recorded, per instance");
    field("flops_over_model", flops_over_model, "recorded FLOPs over the model's");
    field("mfu", mfu, "MFU by the recorded FLOPs");
    field("mbu", mbu, "MBU by the recorded bytes");
  }
};

struct StageTracing {
  uint64_t steps_traced = 0;
  uint64_t steps_all = 0;
  std::optional<Share> share_of_steps;
  std::optional<Milliseconds> not_traced;

  void fields(auto& field) const {
    field("steps_traced", steps_traced, "steps that the collector traced");
    field("steps_all", steps_all, "all steps");
    field("share_of_steps", share_of_steps,
          "steps_traced over steps_all; null if the stage has no steps");
    field("not_traced_ms", not_traced, "mean untraced time per instance");
  }
};

struct BudgetPart {
  TimePart part = TimePart::unattributed;
  Milliseconds time;
  Share share;
  Share share_of_traced;
  std::optional<Milliseconds> per_step;
  WholeNanoseconds total_ns;
  bool idle = false;

  void fields(auto& field) const {
    field("part", part, "a kernel class, idle time by its cause, or the rest");
    field("ms", time, "mean time per instance; the parts sum to wall_ms.mean");
    field("share", share, "share of wall time");
    field("share_of_traced", share_of_traced,
          "share of traced wall time; 0 for the untraced part itself");
    field("ms_per_step", per_step, "time per traced decode step; null for the untraced part");
    field("total_ns", total_ns, "time over all instances, exact");
    field("idle", idle, "the GPU does no work in this part");
  }
};

enum class IdleLevel : uint8_t { little, some, much };
constexpr auto words_of(IdleLevel /*of*/) {
  using enum IdleLevel;
  return vocabulary<IdleLevel>({
      {little, "below 0.05"},
      {some, "at least 0.05, below 0.25"},
      {much, "at least 0.25"},
  });
}

// Whether a stage can get faster without doing less work.
enum class Limit : uint8_t { room, near, implausible };
constexpr auto words_of(Limit /*of*/) {
  using enum Limit;
  return vocabulary<Limit>({
      {room, "less than 0.7 of the peak"},
      {near, "at least 0.7 of the peak"},
      {implausible, "near, although the GPU is idle for much of the time"},
  });
}

// Assessment of a stage's numbers by fixed thresholds.
struct StageJudgement {
  std::optional<IdleLevel> idle;
  bool mostly_idle = false;
  bool waits_for_host = false;
  std::optional<Limit> limit;

  void fields(auto& field) const {
    field("idle", idle, "rating of idle_share_of_wall; null without a budget");
    field("mostly_idle", mostly_idle,
          "the idle parts together are longer than the largest part that is work");
    field("waits_for_host", waits_for_host,
          "more than half of the idle time is caused by the host");
    field("limit", limit,
          "utilization of the peak that bounds the stage, on wall time; null if MFU or MBU is "
          "missing");
  }
};

// A stage as reports and the page show it.
struct StageShown {
  bool without_tracing = false;
  bool in_windows = false;
  ShownTimes wall;
  std::optional<Statistics<Milliseconds>> step_wall;
  std::optional<Milliseconds> wall_per_step;
  Share share_of_stage_time;
  std::optional<Share> gpu_busy_share_of_wall;
  std::optional<Milliseconds> idle;
  std::optional<Share> idle_share_of_wall;
  std::optional<std::vector<BudgetPart>> budget;
  Ratios mfu;
  Ratios mbu;
  std::optional<Bound> bound;
  std::optional<Share> use_at_bound;
  std::optional<double> wall_over_floor;
  std::optional<FlopsPerSecond> flops_per_s;
  std::optional<FlopsPerSecond> flops_per_busy_s;
  std::optional<FlopsPerByte> flops_per_measured_byte;
  Bytes cost_weight_bytes;
  Bytes cost_kv_bytes;
  Bytes cost_bytes;
  std::optional<Milliseconds> floor;
  bool warmup_only = false;
  bool longest = false;

  void fields(auto& field) const {
    field("without_tracing", without_tracing,
          "true if wall times, idle time and derived figures are from unwatched, with the recorded "
          "spread scaled to the mean; otherwise all figures are as recorded");
    field("in_windows", in_windows,
          "true if tracing windows cut the stage: recorded instances are parts, so their spread is "
          "omitted");
    field("wall_ms", wall, "wall time per instance");
    field("step_wall_ms", step_wall, "wall time per step, of steps whose wall time is known");
    field("wall_ms_per_step", wall_per_step, "mean wall time per decode step");
    field("share_of_stage_time", share_of_stage_time,
          "its shown wall time over the sum of all stages");
    field("gpu_busy_share_of_wall", gpu_busy_share_of_wall, "GPU busy time over traced wall time");
    field("idle_ms", idle, "mean idle time per instance");
    field("idle_share_of_wall", idle_share_of_wall, "idle time over traced wall time");
    field("budget", budget,
          "parts of the wall time, largest first, without parts of 0; null if unknown");
    field("mfu", mfu, "MFU on the shown wall time, and on recorded busy time");
    field("mbu", mbu, "MBU on the shown wall time, and on recorded busy time");
    field("bound", bound, "resource that limits the stage; null if floor, MFU or MBU is missing");
    field("use_at_bound", use_at_bound, "MBU or MFU on wall time, whichever belongs to bound");
    field("wall_over_floor", wall_over_floor, "mean wall time over the floor");
    field("flops_per_s", flops_per_s, "flops over the mean wall time");
    field("flops_per_busy_s", flops_per_busy_s, "flops over the mean busy time");
    field("flops_per_measured_byte", flops_per_measured_byte,
          "flops over the DRAM bytes that counters measured");
    field("cost_weight_bytes", cost_weight_bytes, "sum of weight_bytes over cost");
    field("cost_kv_bytes", cost_kv_bytes, "sum of kv_bytes over cost");
    field("cost_bytes", cost_bytes, "sum of bytes over cost");
    field("floor_ms", floor, "floor_ms of the stage; null if bound is");
    field("warmup_only", warmup_only,
          "true if all its kernels are in warm-up: their figures in the stage then include it");
    field("longest", longest, "true for the stage with the largest share_of_stage_time");
  }
};

// In order of first occurrence. Everything except instances and counts excludes warm-up.
struct Stage {
  std::string name;
  StageSource source = StageSource::detected;
  std::optional<std::string> evidence;
  Reasons evidence_reasons;
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
  std::optional<UntracedTimes> untraced;
  std::optional<NoUntracedTime> untraced_why_not;
  std::optional<LikelyAdded> likely_added;
  StageJudgement judgement;
  Reasons why_not_reasons;
  Reasons basis_reasons;
  std::optional<Milliseconds> wall_with_captures;
  bool only_the_first = false;
  StageShown shown;

  void fields(auto& field) const {
    field("name", name,
          "prefill, decode, mixed, or a configured one; unique, and so the stage's key");
    field("source", source, "how it was found");
    field("evidence", evidence, "label of the range, or how the stage was detected");
    field("evidence_reasons", evidence_reasons, "the kind of evidence; empty if not detected");
    field("instances", instances, "all instances, by start");
    field("instance_count", instance_count, "number of instances");
    field("warmup_count", warmup_count, "instances excluded from statistics (warm-up or cut off)");
    field("step_count", step_count, "traced steps in measured instances");
    field("share_of_stage_time", share_of_stage_time, "its wall time over the sum of all stages");
    field("wall_ms", wall, "wall time per instance");
    field("gpu_sum_ms", gpu_sum, "kernel time per instance");
    field("gpu_busy_ms", gpu_busy, "GPU busy time per instance");
    field("gpu_busy_share_of_wall", gpu_busy_share_of_wall, "GPU busy time over traced wall time");
    field("idle_ms", idle, "mean idle time per instance: the budget's idle parts");
    field("idle_share_of_wall", idle_share_of_wall, "idle time over traced wall time");
    field("kernel_count", kernel_count, "kernels per instance");
    field("step_wall_ms", step_wall, "wall time per step, of steps whose wall time is known");
    field("decode_step_count", decode_step_count,
          "traced steps that give a token to each sequence");
    field("wall_ms_per_step", wall_per_step, "mean wall time per decode step, traced or not");
    field("flops", flops,
          "FLOPs the model needs on one GPU per instance; without a model, FLOPs that CPU "
          "operators recorded");
    field("bytes", bytes,
          "bytes the model moves on one GPU per instance; without a model, bytes that CPU "
          "operators recorded");
    field("mfu", mfu,
          "FLOPs over what the dense peak could compute in that time; for a CPU, over its measured "
          "peak, which it may exceed by up to a tenth");
    field("mbu", mbu, "bytes over what the peak bandwidth could move in that time");
    field("why_not", why_not, "why MFU and MBU are missing");
    field("basis", basis, "passes that flops and bytes are computed for");
    field("cost", cost, "FLOPs and bytes, by part of the model");
    field("peak_flops_per_s", peak_flops, "peak for MFU");
    field("peak_name", peak_name, "name of that peak: \"bf16 dense\"");
    field("peak_bandwidth_bytes_per_s", peak_bandwidth, "peak for MBU");
    field("from_operators", from_operators,
          "true if flops and bytes are what CPU operators recorded");
    field("recorded", recorded,
          "what CPU operators recorded, in addition to the model's cost; otherwise null");
    field("floor_ms", floor, "lower bound per instance: the longer of FLOPs and bytes at peak");
    field("wall_over_floor", wall_over_floor, "mean wall time over the floor");
    field("memory_bound", memory_bound, "true if bytes set the floor");
    field("flops_per_byte", flops_per_byte, "the model's arithmetic intensity");
    field("ridge_flops_per_byte", ridge, "the GPU's ridge point");
    field("tracing", tracing,
          "traced steps; null if all were. Kernel times and counts, busy times and layers then "
          "cover traced steps only, wall times and tokens all steps");
    field("measured", measured, "what the GPU's counters and sensors measured; otherwise null");
    field("budget", budget,
          "parts of the wall time, largest first, without parts of 0; null if unknown");
    field("unwatched", untraced,
          "times without profiling, which reports show first; null if unknown. wall_ms, instances "
          "and budget stay as recorded");
    field("unwatched_why_not", untraced_why_not, "why unwatched is null");
    field("likely_added", likely_added,
          "estimate of earlier versions for what tracing added per instance; now always null");
    field("judgement", judgement, "assessment of the shown figures");
    field("why_not_reasons", why_not_reasons, "why_not as kinds and values");
    field("basis_reasons", basis_reasons, "basis as kinds and values");
    field("wall_ms_with_graph_captures", wall_with_captures,
          "mean wall time including warm-up instances in which a CUDA graph is captured; null "
          "without any");
    field("only_the_first", only_the_first,
          "true if only the program's first one or two instances were recorded, and later ones may "
          "have run untraced: these are cold-start times");
    field("shown", shown, "figures that reports and the page show");
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

  void fields(auto& field) const {
    field("stage", stage, "stage that it is part of");
    field("name", name, "vision, projector, ...");
    field("instances", instances, "number of occurrences");
    field("range_ms", range,
          "CPU duration of its ranges; for detected ones, from first kernel to last");
    field("kernel_count", kernel_count, "kernels in all occurrences");
    field("gpu_sum_ms", gpu_sum, "time of these kernels");
  }
};

}  // namespace llmprof::profile
