#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/model/compared_quantity.h"
#include "compare/model/memory_diff.h"
#include "compare/model/words.h"
#include "profile/budget_parts.h"
#include "profile/context.h"
#include "profile/finding_kinds.h"
#include "profile/quantity.h"
#include "profile/requests.h"
#include "profile/steps.h"

namespace llmprof::compare {

inline constexpr uint64_t kDiffSchemaVersion = 1;

// The content of diff.json, described once, like profile::Profile. Missing is null, never 0.
// Differences are new minus base; relative ones are divided by base.

struct SideRun {
  std::string path;
  RunKind kind{};
  std::optional<std::string> recorded_by;
  std::optional<std::string> command;
  uint64_t steps = 0;

  void fields(auto& field) const {
    field("path", path, "path as given on the command line");
    field("kind", kind, "what it is");
    field("recorded_by", recorded_by, "tools that made its captures, with their versions");
    field("command", command, "command that ran; null if unknown");
    field("steps", steps, "recorded steps, over all stages");
  }
};

// Data missing on a side.
struct Damage {
  SideName side{};
  std::string run;
  std::string code;
  std::string text;
  uint64_t count = 1;

  void fields(auto& field) const {
    field("side", side, "side of the comparison");
    field("run", run, "path of the run");
    field("code", code,
          "code of the diagnostic in its profile.json; capture_failed (a recording failed or was "
          "interrupted); stage_cut_off (no complete instance of a stage was recorded)");
    field("text", text, "what is missing");
    field("count", count, "number of occurrences");
  }
};

// Something that may make two sides incomparable.
struct Aspect {
  AspectKind aspect{};
  std::optional<std::string> base;
  std::optional<std::string> now;
  bool blocking = false;
  std::string text;

  void fields(auto& field) const {
    field("aspect", aspect, "what differs");
    field("base", base, "value of the base side; null if unknown");
    field("new", now, "value of the new side; null if unknown");
    field("blocking", blocking, "true: the sides cannot be compared; false: it is a note");
    field("text", text, "sentence that reports print");
  }
};

// Steps or instances excluded from comparisons, by rule.
struct LeftOut {
  SideName side{};
  std::string run;
  std::string stage;
  ComparedRow what{};
  Exclusion rule{};
  uint64_t count = 0;
  Milliseconds total;

  void fields(auto& field) const {
    field("side", side, "side of the comparison");
    field("run", run, "path of the run");
    field("stage", stage, "stage that they belong to");
    field("what", what, "what they are");
    field("rule", rule, "why they are excluded");
    field("count", count, "number of steps or instances");
    field("total_ms", total, "their total wall time");
  }
};

// Comparable steps of both sides.
struct StepGroup {
  std::string stage;
  profile::StepKind kind{};
  std::optional<uint64_t> batch;
  std::optional<uint64_t> tokens;
  ContextBy context_by{};
  uint64_t context_low = 0;
  uint64_t context_high = 0;
  uint64_t base_steps = 0;
  uint64_t now_steps = 0;
  Share weight;

  void fields(auto& field) const {
    field("stage", stage, "stage that they belong to");
    field("kind", kind, "kind of step");
    field("batch", batch, "sequences per step");
    field("tokens", tokens, "tokens that pass through the layers");
    field("context_by", context_by, "what context_low and context_high count");
    field("context_low", context_low, "start of the range that both sides have");
    field("context_high", context_high, "end of that range");
    field("base_steps", base_steps, "compared");
    field("new_steps", now_steps, "compared");
    field("weight", weight, "weight of the group in its stage: its share of the base side's steps");
  }
};

// One quantity on both sides.
struct Comparison {
  std::string stage;
  ComparedQuantity quantity;
  Statistic statistic = Statistic::mean;
  ComparedUnit unit = ComparedUnit::ms;
  Times times = Times::recorded;
  bool lower_is_better = true;
  std::optional<double> base;
  std::optional<double> now;
  std::optional<double> difference;
  std::optional<double> low;
  std::optional<double> high;
  std::optional<Share> relative;
  std::optional<Share> relative_low;
  std::optional<Share> relative_high;
  Answer answer = Answer::cannot_tell;
  std::optional<Direction> direction;
  bool differs = false;
  Method method = Method::none;
  NoiseOf noise_of = NoiseOf::runs;
  uint64_t base_count = 0;
  uint64_t now_count = 0;
  uint64_t base_runs = 0;
  uint64_t now_runs = 0;
  uint64_t base_block = 0;
  uint64_t now_block = 0;
  std::optional<Share> smallest_seen;
  std::optional<uint64_t> runs_needed;
  std::optional<Share> between_runs;
  std::optional<NoAnswer> why_not;

  void fields(auto& field) const {
    field(
        "stage", stage,
        "as in profile.json; \"all kernels\" without stages; \"requests\" for a client's requests; "
        "the GPU for memory");
    field("quantity", quantity,
          "what is compared; class.X: kernel time of that class, including overlap, per step, or "
          "per instance if the stage has no steps; part.X: time of requests that was spent on it; "
          "memory.X: of gate rules on GPU memory");
    field("statistic", statistic, "statistic that is compared");
    field("unit", unit, "unit of the values");
    field("times", times, "source of the times");
    field("lower_is_better", lower_is_better, "false for rates and utilization");
    field("base", base,
          "value of the statistic; with several runs, their mean; for a shift, the median");
    field("new", now, "value of the statistic; for a shift, base plus difference");
    field("difference", difference, "new minus base");
    field("low", low, "lower end of the 95 % interval; null if the uncertainty is unknown");
    field("high", high, "upper end of the interval");
    field("relative", relative, "difference over base");
    field("relative_low", relative_low, "low over base");
    field("relative_high", relative_high, "high over base");
    field("answer", answer, "whether it changed");
    field("direction", direction, "null unless changed");
    field("differs", differs,
          "the interval excludes 0: there is a difference, even if it is below the threshold");
    field("method", method, "source of the interval");
    field("noise_of", noise_of,
          "what varies. For steps or instances, the interval describes these two recordings, not "
          "the variation between runs");
    field("base_count", base_count, "number of values");
    field("new_count", now_count, "number of values");
    field("base_runs", base_runs, "runs with values");
    field("new_runs", now_runs, "runs with values, on the new side");
    field("base_block", base_block, "consecutive values drawn together; 0 without bootstrap");
    field("new_block", now_block, "base_block for the new side");
    field("smallest_seen", smallest_seen,
          "relative difference that would be reported as changed with probability 0.8");
    field("runs_needed", runs_needed,
          "runs per side that an answer needs, if difference and noise stay the same; null if "
          "there is an answer, if unknown, or above 1000");
    field("between_runs", between_runs,
          "assumed relative difference between equal runs, which single runs cannot show; it "
          "widens the interval; null if a side has several runs");
    field("why_not", why_not, "why there is no answer, whatever the figures are; otherwise null");
  }
};

struct PartChange {
  std::string part;
  bool idle = false;
  WholeNanoseconds base;
  WholeNanoseconds now;
  WholeNanoseconds difference;
  std::optional<Share> points;

  void fields(auto& field) const {
    field("part", part, "part of the budget, as in profile.json");
    field("idle", idle, "the GPU does no work in this part");
    field("base_ns", base, "per unit");
    field("new_ns", now, "per unit");
    field("difference_ns", difference,
          "new minus base; the parts sum exactly to the difference of the wall times");
    field("points", points, "difference over the base's wall time");
  }
};

struct ChangedKernel {
  std::string short_name;
  profile::KernelClass kernel_class = profile::KernelClass::other;
  double calls = 0;

  void fields(auto& field) const {
    field("short_name", short_name, "as in kernels of profile.json");
    field("class", kernel_class, "class, as in kernels of profile.json");
    field("calls_per_unit", calls, "mean number of launches");
  }
};

inline double calls_of(const std::vector<ChangedKernel>& kernels) {
  double calls = 0;
  for (const ChangedKernel& kernel : kernels) calls += kernel.calls;
  return calls;
}

struct KernelChange {
  ChangeKind change{};
  std::string block;
  MatchedBy matched_by{};
  std::vector<ChangedKernel> base_kernels;
  std::vector<ChangedKernel> now_kernels;
  WholeNanoseconds base;
  WholeNanoseconds now;
  WholeNanoseconds difference;
  std::optional<Share> points;

  void fields(auto& field) const {
    field("change", change, "kind of change");
    field("block", block, "block as in kernel_sequences of profile.json; empty without them");
    field("matched_by", matched_by, "what shows that the kernels do the same work");
    field("base_kernels", base_kernels, "kernels of the base side in order; empty if added");
    field("new_kernels", now_kernels, "kernels of the new side in order; empty if removed");
    field("base_ns", base, "kernel time per unit, including overlap");
    field("new_ns", now, "base_ns for the new side");
    field("difference_ns", difference,
          "new minus base; all rows sum exactly to the stage's kernel_difference_ns");
    field("points", points, "difference over the base's wall time");
  }
};

// One reason why a stage is faster or slower. Causes sum to the wall time's difference.
struct Cause {
  ChangeKind kind{};
  std::optional<std::string> subject;
  uint64_t base_kernels = 0;
  uint64_t now_kernels = 0;
  WholeNanoseconds difference;
  std::optional<Share> points;

  void fields(auto& field) const {
    field("kind", kind, "kind of change");
    field("subject", subject, "a class of kernels, a part of the budget");
    field("base_kernels", base_kernels, "distinct positions in the kernel sequence");
    field("new_kernels", now_kernels, "base_kernels for the new side");
    field("difference_ns", difference, "per unit");
    field("points", points, "difference over the base's wall time");
  }
};

struct StageDiff {
  std::string stage;
  TimeUnit unit{};
  Times times = Times::recorded;
  double base_units = 0;
  double now_units = 0;
  WholeNanoseconds base_wall;
  WholeNanoseconds now_wall;
  WholeNanoseconds difference;
  std::optional<Share> relative;
  std::vector<PartChange> budget;
  WholeNanoseconds kernel_base;
  WholeNanoseconds kernel_now;
  WholeNanoseconds kernel_difference;
  WholeNanoseconds overlap;
  std::vector<KernelChange> kernels;
  std::vector<Cause> causes;
  std::string why;

  void fields(auto& field) const {
    field("stage", stage, "as in profile.json; \"all kernels\" without stages");
    field("unit", unit, "unit that times refer to");
    field("times", times, "source of the times");
    field("base_units", base_units, "units that means are computed over");
    field("new_units", now_units, "base_units for the new side");
    field("base_wall_ns", base_wall, "mean wall time per unit, without untraced periods");
    field("new_wall_ns", now_wall, "base_wall_ns for the new side");
    field("difference_ns", difference, "difference of the means; comparisons has its interval");
    field("relative", relative, "difference over the base's wall time");
    field("budget", budget, "largest difference first");
    field("kernel_base_ns", kernel_base, "kernel time per unit, including overlap");
    field("kernel_new_ns", kernel_now, "kernel_base_ns for the new side");
    field("kernel_difference_ns", kernel_difference, "new minus base");
    field("overlap_difference_ns", overlap,
          "change of the budget's kernel classes beyond kernel_difference_ns: the budget counts "
          "kernels that run at the same time once");
    field("kernels", kernels, "largest difference first");
    field("causes", causes, "largest difference first");
    field("why", why, "the causes in words");
  }
};

struct FindingChange {
  profile::FindingKind kind{};
  Fate change{};
  std::optional<std::string> stage;
  std::optional<std::string> subject;
  std::string title;
  std::optional<Milliseconds> base;
  std::optional<Milliseconds> now;

  void fields(auto& field) const {
    field("kind", kind, "as in profile.json");
    field("change", change, "kind of change");
    field("stage", stage, "stage that it belongs to");
    field("subject", subject, "as in profile.json");
    field("title", title, "title on the new side, otherwise on the base side");
    field("base_ms", base, "potential saving per unit of the finding, mean over runs");
    field("new_ms", now, "base_ms for the new side");
  }
};

struct RequestPartChange {
  profile::RequestPart part{};
  WholeNanoseconds base;
  WholeNanoseconds now;
  WholeNanoseconds difference;
  std::optional<Share> points;

  void fields(auto& field) const {
    field("part", part, "part of the requests' time, as in profile.json");
    field("base_ns", base, "mean per completed request");
    field("new_ns", now, "base_ns for the new side");
    field("difference_ns", difference, "new minus base");
    field("points", points, "difference over the base's mean time");
  }
};

// Where the requests of a client spent their time, on both sides.
struct RequestsDiff {
  uint64_t base_completed = 0;
  uint64_t now_completed = 0;
  uint64_t base_failed = 0;
  uint64_t now_failed = 0;
  WholeNanoseconds base;
  WholeNanoseconds now;
  WholeNanoseconds difference;
  std::optional<Share> relative;
  std::vector<RequestPartChange> parts;
  std::vector<RequestPartChange> first_token_parts;
  std::string why;

  void fields(auto& field) const {
    field("base_completed", base_completed, "completed requests, over all runs");
    field("new_completed", now_completed, "base_completed for the new side");
    field("base_failed", base_failed, "requests that did not complete, over all runs");
    field("new_failed", now_failed, "base_failed for the new side");
    field("base_ns", base, "mean time from sent to end, over all completed requests");
    field("new_ns", now, "base_ns for the new side");
    field("difference_ns", difference, "new minus base; comparisons has its interval");
    field("relative", relative, "difference over base");
    field("parts", parts,
          "largest difference first; the parts sum exactly to difference_ns; empty unless the "
          "requests of all runs are joined");
    field("first_token_parts", first_token_parts,
          "the same for the time to first token, of requests that got one");
    field("why", why, "the changes in words");
  }
};

struct GateResult {
  std::string rule;
  std::string from;
  Verdict outcome = Verdict::cannot_tell;
  std::string stage;
  std::optional<Share> relative_limit;
  std::optional<Milliseconds> absolute_limit;
  std::optional<Bytes> absolute_limit_bytes;
  std::optional<Comparison> measured;
  std::string text;

  void fields(auto& field) const {
    field("rule", rule, "rule as written");
    field("from", from, "the command line, or a file in conf/gate");
    field("outcome", outcome, "verdict on the rule");
    field("stage", stage,
          "stage that it was measured in, \"requests\", or the GPU for memory; empty if there is "
          "none");
    field("relative_limit", relative_limit, "limit of the difference over base");
    field("absolute_limit_ms", absolute_limit,
          "limit of the difference; with both limits, only a difference beyond both fails");
    field("absolute_limit_bytes", absolute_limit_bytes, "absolute_limit_ms for memory");
    field("measured", measured, "null if a side does not have this quantity");
    field("text", text, "sentence that reports print");
  }
};

// One rank of a job in one stage, by its own times.
struct RankDiff {
  uint64_t rank = 0;
  std::string stage;
  TimeUnit unit{};
  WholeNanoseconds base_wall;
  WholeNanoseconds now_wall;
  WholeNanoseconds difference;
  std::optional<Share> relative;
  std::optional<std::string> part;
  WholeNanoseconds part_difference;

  void fields(auto& field) const {
    field("rank", rank, "rank, in both jobs");
    field("stage", stage, "stage of the job");
    field("unit", unit, "unit that times refer to");
    field("base_wall_ns", base_wall,
          "mean wall time per unit on the rank's own clock, including waits for other ranks, "
          "without untraced periods");
    field("new_wall_ns", now_wall, "base_wall_ns for the new side");
    field("difference_ns", difference, "new minus base");
    field("relative", relative, "difference over the base's wall time");
    field("part", part, "part of the rank's budget that changed most; null if none changed");
    field("part_difference_ns", part_difference, "change of that part");
  }
};

struct Diff {
  uint64_t schema_version = kDiffSchemaVersion;
  profile::Tool tool;
  Verdict verdict = Verdict::pass;
  std::string summary;
  profile::DeviceKind device_kind = profile::DeviceKind::gpu;
  Share threshold;
  bool identical = false;
  std::vector<SideRun> base;
  std::vector<SideRun> now;
  std::vector<Damage> damage;
  std::vector<Aspect> aspects;
  std::vector<GateResult> gates;
  std::vector<Comparison> comparisons;
  std::vector<StageDiff> stages;
  std::optional<RequestsDiff> requests;
  std::optional<MemoryDiff> memory;
  std::vector<FindingChange> findings;
  std::vector<StepGroup> groups;
  std::vector<LeftOut> left_out;
  std::vector<RankDiff> ranks;

  void fields(auto& field) const {
    field("schema_version", schema_version, "version of this file's format");
    field("tool", tool, "program that wrote this file");
    field("verdict", verdict, "verdict on the comparison");
    field("summary", summary, "what happened, in one sentence: the first line of reports");
    field("device_kind", device_kind, "processor that the kernels of both sides ran on");
    field("threshold", threshold, "relative difference above which a quantity counts as changed");
    field("identical", identical,
          "both sides have the same measurements, to the last digit and kernel");
    field("base", base, "runs of the base side");
    field("new", now, "runs of the new side");
    field("damage", damage,
          "what is missing on either side; if anything is, no change is reported and no rule "
          "decided");
    field("aspects", aspects, "differences other than times, blocking ones first");
    field("gates", gates, "gate rules, in order");
    field("comparisons", comparisons, "compared quantities with their intervals, by stage");
    field("stages", stages, "where the difference is, by stage; means over all runs");
    field("requests", requests,
          "requests of a client, by what they spent their time on; null unless all runs have them");
    field("memory", memory,
          "use of GPU memory; null unless a run recorded it or has a memory snapshot of PyTorch");
    field("findings", findings, "findings that changed; gone and new ones first");
    field("groups", groups, "groups of steps that were compared with each other");
    field("left_out", left_out, "steps and instances that were excluded, and why");
    field("ranks", ranks, "differences by rank, then stage; empty unless both sides are jobs");
  }
};

}  // namespace llmprof::compare
