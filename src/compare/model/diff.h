#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/context.h"
#include "profile/quantity.h"

namespace llmprof::compare {

inline constexpr uint64_t kDiffSchemaVersion = 1;

using profile::Milliseconds;
using profile::Share;
using profile::WholeNanoseconds;

// What diff.json holds, described once, as profile::Profile is. Missing is null, never 0. All
// differences are new less base; relative ones are over base.

struct SideRun {
  std::string path;
  std::string kind;
  std::optional<std::string> recorded_by;
  std::optional<std::string> command;
  uint64_t steps = 0;

  static void fields(auto& field) {
    using Self = SideRun;
    field("path", &Self::path, "as it was named");
    field("kind", &Self::kind, "profile, run, capture");
    field("recorded_by", &Self::recorded_by, "tools of its captures, with their versions");
    field("command", &Self::command, "what ran, where the run knows");
    field("steps", &Self::steps, "recorded, of all stages");
  }
};

// Something that is missing of a side.
struct Damage {
  std::string side;
  std::string run;
  std::string code;
  std::string text;
  uint64_t count = 1;

  static void fields(auto& field) {
    field("side", &Damage::side, "base, new");
    field("run", &Damage::run, "its path");
    field("code", &Damage::code,
          "of the diagnostic in its profile.json; capture_failed (a recording failed or was "
          "interrupted); stage_cut_off (no whole instance of a stage was recorded)");
    field("text", &Damage::text, "what is missing");
    field("count", &Damage::count, "how often");
  }
};

// Something that may make two sides incomparable.
struct Aspect {
  std::string aspect;
  std::optional<std::string> base;
  std::optional<std::string> now;
  bool blocking = false;
  std::string text;

  static void fields(auto& field) {
    field("aspect", &Aspect::aspect,
          "gpu, gpu_count, clocks, driver, cuda, model, dtype, prompt_tokens, new_tokens, batch, "
          "parallelism, recording, coverage, selection, stages, hidden_graphs, throttling, engine, "
          "device_kind, unwatched, cpu_peaks, shared_cpus");
    field("base", &Aspect::base, "value of the base side; null where it does not tell");
    field("new", &Aspect::now, "value of the new side");
    field("blocking", &Aspect::blocking, "the sides cannot be compared; otherwise a note");
    field("text", &Aspect::text, "the sentence of reports");
  }
};

// Steps or instances that no comparison counts, by which rule.
struct LeftOut {
  std::string side;
  std::string run;
  std::string stage;
  std::string what;
  std::string rule;
  uint64_t count = 0;
  Milliseconds total;

  static void fields(auto& field) {
    using Self = LeftOut;
    field("side", &Self::side, "base, new");
    field("run", &Self::run, "its path");
    field("stage", &Self::stage, "where they belong");
    field("what", &Self::what, "steps, instances");
    field("rule", &Self::rule,
          "warm_up, first_step (of an instance with several), after_untraced (nothing was traced "
          "before it), cut_off (recording ended in its instance), clocks_lowered (by heat, power "
          "or hardware; kept where more than half of a side's are), no_counterpart (not every run "
          "has steps of its kind, batch and tokens, or instances of as many steps), "
          "outside_context_range, too_few");
    field("count", &Self::count, "how many");
    field("total_ms", &Self::total, "their wall time");
  }
};

// Steps that are like each other on both sides.
struct StepGroup {
  std::string stage;
  std::string kind;
  std::optional<uint64_t> batch;
  std::optional<uint64_t> tokens;
  std::string context_by;
  uint64_t context_low = 0;
  uint64_t context_high = 0;
  uint64_t base_steps = 0;
  uint64_t now_steps = 0;
  Share weight;

  static void fields(auto& field) {
    using Self = StepGroup;
    field("stage", &Self::stage, "where they belong");
    field("kind", &Self::kind, "prefill, decode, mixed");
    field("batch", &Self::batch, "sequences");
    field("tokens", &Self::tokens, "that pass through the layers");
    field("context_by", &Self::context_by,
          "context_tokens (per sequence), or step_of_instance where the context is not told");
    field("context_low", &Self::context_low, "of the range that both sides have");
    field("context_high", &Self::context_high, "likewise");
    field("base_steps", &Self::base_steps, "compared");
    field("new_steps", &Self::now_steps, "compared");
    field("weight", &Self::weight, "of the group in its stage: its share of the base's steps");
  }
};

// One quantity of both sides.
struct Comparison {
  std::string stage;
  std::string quantity;
  std::string statistic;
  std::string unit;
  std::string times;
  bool lower_is_better = true;
  std::optional<double> base;
  std::optional<double> now;
  std::optional<double> difference;
  std::optional<double> low;
  std::optional<double> high;
  std::optional<Share> relative;
  std::optional<Share> relative_low;
  std::optional<Share> relative_high;
  std::string answer;
  std::optional<std::string> direction;
  bool differs = false;
  std::string method;
  std::string unit_of_noise;
  uint64_t base_count = 0;
  uint64_t now_count = 0;
  uint64_t base_runs = 0;
  uint64_t now_runs = 0;
  uint64_t base_block = 0;
  uint64_t now_block = 0;
  std::optional<Share> smallest_seen;
  std::optional<uint64_t> runs_needed;
  std::optional<Share> between_runs;
  std::optional<std::string> why_not;

  static void fields(auto& field) {
    using Self = Comparison;
    field("stage", &Self::stage, "as in profile.json; \"all kernels\" without stages");
    field("quantity", &Self::quantity,
          "step, step_busy, step_idle, step_kernels (of steps); wall, busy, idle, kernels (of "
          "instances); class.X (time of that class's kernels, overlap not removed, per step, or "
          "per instance of a stage without steps); tokens_per_s, mfu, mbu");
    field(
        "statistic", &Self::statistic,
        "mean (unless a gate rule names another), p50, p90, p99, shift (Hodges-Lehmann: the median "
        "of all differences between the sides' values)");
    field("unit", &Self::unit, "ms, tokens/s, fraction");
    field("times", &Self::times,
          "unwatched (without profiling, both sides by the same source), recorded");
    field("lower_is_better", &Self::lower_is_better, "false of rates and utilization");
    field("base", &Self::base,
          "the statistic; mean over runs where there are several; of a shift the median");
    field("new", &Self::now, "the statistic; of a shift base plus the difference");
    field("difference", &Self::difference, "new less base");
    field("low", &Self::low, "of its 95 % interval; null where nothing tells");
    field("high", &Self::high, "likewise");
    field("relative", &Self::relative, "difference over base, new over base less 1");
    field("relative_low", &Self::relative_low, "low over base");
    field("relative_high", &Self::relative_high, "high over base");
    field("answer", &Self::answer,
          "changed (the interval is beyond the threshold), unchanged (inside it), cannot_tell");
    field("direction", &Self::direction, "better, worse; null unless changed");
    field("differs", &Self::differs,
          "the interval is without 0: there is a difference, be it below the threshold");
    field("method", &Self::method,
          "identical (both sides hold the same values), block_bootstrap (of one run per side), "
          "welch (few values, or fewer than five runs per side), rank_interval (Mann-Whitney, from "
          "five runs per side on), one_against_runs, as_recorded (of single runs without "
          "profiling: as the "
          "recorded times vary), from_wall (as of the wall time that it is "
          "made of), none");
    field("noise_of", &Self::unit_of_noise,
          "runs, steps, instances: what the interval takes to vary. Of steps or instances it holds "
          "for these two recordings, and says nothing of how far runs differ");
    field("base_count", &Self::base_count, "values");
    field("new_count", &Self::now_count, "values");
    field("base_runs", &Self::base_runs, "runs that have some");
    field("new_runs", &Self::now_runs, "likewise");
    field("base_block", &Self::base_block,
          "consecutive values drawn together; 0 without bootstrap");
    field("new_block", &Self::now_block, "likewise");
    field("smallest_seen", &Self::smallest_seen,
          "relative difference that would have been called changed with probability 0.8");
    field("runs_needed", &Self::runs_needed,
          "per side, for an answer, if the difference is what was estimated and noise stays as it "
          "is; null where there is one, where nothing tells, and above 1000");
    field("between_runs", &Self::between_runs,
          "by how much equal runs are taken to differ, relative, since single runs do not show it: "
          "the interval is wider by it; null where a side has several runs");
    field("why_not", &Self::why_not,
          "why no answer is given whatever the figures are: damaged (a side is), shared_cpus "
          "(other programs used the CPUs), recorded_differently (by another tool, or with CUDA "
          "graphs hidden on one side), not_comparable (the sides stand side by side); null "
          "otherwise");
  }
};

struct PartChange {
  std::string part;
  bool idle = false;
  WholeNanoseconds base;
  WholeNanoseconds now;
  WholeNanoseconds difference;
  std::optional<Share> points;

  static void fields(auto& field) {
    using Self = PartChange;
    field("part", &Self::part, "of the budget, as in profile.json");
    field("idle", &Self::idle, "the GPU does no work in this part");
    field("base_ns", &Self::base, "per unit");
    field("new_ns", &Self::now, "per unit");
    field("difference_ns", &Self::difference, "the parts sum to the wall's, exactly");
    field("points", &Self::points, "difference over the base's wall time");
  }
};

struct ChangedKernel {
  std::string short_name;
  std::string kernel_class;
  double calls = 0;

  static void fields(auto& field) {
    using Self = ChangedKernel;
    field("short_name", &Self::short_name, "as in kernels of profile.json");
    field("class", &Self::kernel_class, "likewise");
    field("calls_per_unit", &Self::calls, "launches, mean");
  }
};

struct KernelChange {
  std::string change;
  std::string block;
  std::string matched_by;
  std::vector<ChangedKernel> base_kernels;
  std::vector<ChangedKernel> now_kernels;
  WholeNanoseconds base;
  WholeNanoseconds now;
  WholeNanoseconds difference;
  std::optional<Share> points;

  static void fields(auto& field) {
    using Self = KernelChange;
    field("change", &Self::change,
          "matched (the same kernel), replaced (another kernel at its place), fused (several "
          "became fewer), split (fewer became several), added, removed");
    field("block", &Self::block, "as in kernel_sequences of profile.json; empty without them");
    field("matched_by", &Self::matched_by,
          "name_and_place, place, class_and_shape, name, class; empty of added and removed");
    field("base_kernels", &Self::base_kernels, "in their order; empty of an added one");
    field("new_kernels", &Self::now_kernels, "in their order; empty of a removed one");
    field("base_ns", &Self::base, "time per unit, overlap not removed");
    field("new_ns", &Self::now, "likewise");
    field("difference_ns", &Self::difference,
          "all rows sum to the stage's kernel_difference_ns, exactly");
    field("points", &Self::points, "difference over the base's wall time");
  }
};

// A piece of why a stage is faster or slower. Pieces sum to the wall's difference.
struct Cause {
  std::string kind;
  std::optional<std::string> subject;
  uint64_t base_kernels = 0;
  uint64_t now_kernels = 0;
  WholeNanoseconds difference;
  std::optional<Share> points;

  static void fields(auto& field) {
    field(
        "kind", &Cause::kind,
        "fused, split, replaced, added, removed (kernels of one kind of change and class), "
        "same_kernels (matched ones of a class, each launch longer or shorter), launches (more or "
        "fewer of the same kernels), idle, other_parts (copies, hidden graphs), "
        "overlap (kernels that run at the same time)");
    field("subject", &Cause::subject, "a class of kernels, a part of the budget");
    field("base_kernels", &Cause::base_kernels, "distinct places in the sequence");
    field("new_kernels", &Cause::now_kernels, "likewise");
    field("difference_ns", &Cause::difference, "per unit");
    field("points", &Cause::points, "difference over the base's wall time");
  }
};

struct StageDiff {
  std::string stage;
  std::string unit;
  std::string times;
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

  static void fields(auto& field) {
    using Self = StageDiff;
    field("stage", &Self::stage, "as in profile.json; \"all kernels\" without stages");
    field("unit", &Self::unit,
          "what times are of: step (one forward pass; of a decode, one token per sequence), "
          "instance, capture");
    field("times", &Self::times, "of wall and budget: unwatched, recorded");
    field("base_units", &Self::base_units, "that means are of");
    field("new_units", &Self::now_units, "likewise");
    field("base_wall_ns", &Self::base_wall, "mean per unit, what was not traced left out");
    field("new_wall_ns", &Self::now_wall, "likewise");
    field("difference_ns", &Self::difference, "of means; its interval is among comparisons");
    field("relative", &Self::relative, "difference over the base's wall time");
    field("budget", &Self::budget, "largest difference first");
    field("kernel_base_ns", &Self::kernel_base,
          "time of all kernels per unit, overlap not removed");
    field("kernel_new_ns", &Self::kernel_now, "likewise");
    field("kernel_difference_ns", &Self::kernel_difference, "the second less the first");
    field("overlap_difference_ns", &Self::overlap,
          "what the budget's kernel classes changed by beyond kernel_difference_ns: kernels that "
          "run at the same time count once there");
    field("kernels", &Self::kernels, "largest difference first");
    field("causes", &Self::causes, "largest difference first");
    field("why", &Self::why, "in words");
  }
};

struct FindingChange {
  std::string kind;
  std::string change;
  std::optional<std::string> stage;
  std::optional<std::string> subject;
  std::string title;
  std::optional<Milliseconds> base;
  std::optional<Milliseconds> now;

  static void fields(auto& field) {
    using Self = FindingChange;
    field("kind", &Self::kind, "as in profile.json");
    field("change", &Self::change, "gone, new, smaller, larger (by more than the threshold), same");
    field("stage", &Self::stage, "where it belongs");
    field("subject", &Self::subject, "as in profile.json");
    field("title", &Self::title, "of the side that has it; the new one's first");
    field("base_ms", &Self::base, "potential saving per unit of that finding, mean of runs");
    field("new_ms", &Self::now, "likewise");
  }
};

struct GateResult {
  std::string rule;
  std::string from;
  std::string outcome;
  std::string stage;
  std::optional<Share> relative_limit;
  std::optional<Milliseconds> absolute_limit;
  std::optional<Comparison> measured;
  std::string text;

  static void fields(auto& field) {
    using Self = GateResult;
    field("rule", &Self::rule, "as written");
    field("from", &Self::from, "the command line, or the file of conf/gate");
    field("outcome", &Self::outcome,
          "pass (the whole interval is within the limit), fail (the whole interval is beyond it), "
          "cannot_tell");
    field("stage", &Self::stage, "that it was measured in; empty where there is none");
    field("relative_limit", &Self::relative_limit, "of the difference over base");
    field("absolute_limit_ms", &Self::absolute_limit,
          "of the difference; with both, only what is beyond both fails");
    field("measured", &Self::measured, "null where a side has no such quantity");
    field("text", &Self::text, "the sentence of reports");
  }
};

// One rank of a job in one stage, by its own times.
struct RankDiff {
  uint64_t rank = 0;
  std::string stage;
  std::string unit;
  WholeNanoseconds base_wall;
  WholeNanoseconds now_wall;
  WholeNanoseconds difference;
  std::optional<Share> relative;
  std::optional<std::string> part;
  WholeNanoseconds part_difference;

  static void fields(auto& field) {
    using Self = RankDiff;
    field("rank", &Self::rank, "in both jobs");
    field("stage", &Self::stage, "of the job");
    field("unit", &Self::unit, "what times are of: step, instance");
    field("base_wall_ns", &Self::base_wall,
          "mean per unit, by the rank's own clock: waits for other ranks included, what was not "
          "traced left out");
    field("new_wall_ns", &Self::now_wall, "likewise");
    field("difference_ns", &Self::difference, "the second less the first");
    field("relative", &Self::relative, "difference over the base's wall time");
    field("part", &Self::part,
          "of the rank's budget, the part that changed most; null where none did");
    field("part_difference_ns", &Self::part_difference, "how much it changed");
  }
};

struct Diff {
  uint64_t schema_version = kDiffSchemaVersion;
  profile::Tool tool;
  std::string verdict;
  std::string summary;
  std::string device_kind = "gpu";
  Share threshold;
  bool identical = false;
  std::vector<SideRun> base;
  std::vector<SideRun> now;
  std::vector<Damage> damage;
  std::vector<Aspect> aspects;
  std::vector<GateResult> gates;
  std::vector<Comparison> comparisons;
  std::vector<StageDiff> stages;
  std::vector<FindingChange> findings;
  std::vector<StepGroup> groups;
  std::vector<LeftOut> left_out;
  std::vector<RankDiff> ranks;

  static void fields(auto& field) {
    field("schema_version", &Diff::schema_version, "of this file");
    field("tool", &Diff::tool, "that wrote it");
    field("verdict", &Diff::verdict,
          "pass (every rule passes, or none was given), fail (one fails), cannot_tell (none fails, "
          "one cannot be decided; or a side is damaged), not_comparable");
    field("summary", &Diff::summary, "what happened, in a sentence: the first line of reports");
    field("device_kind", &Diff::device_kind, "what the kernels of both sides ran on: gpu, cpu");
    field("threshold", &Diff::threshold, "relative difference from which on a quantity changed");
    field("identical", &Diff::identical,
          "both sides hold the same measurements, to the last digit and the last kernel");
    field("base", &Diff::base, "runs of the base side");
    field("new", &Diff::now, "runs of the new side");
    field(
        "damage", &Diff::damage,
        "what is missing of either side; with any, nothing is claimed and no rule can be decided");
    field("aspects", &Diff::aspects, "what differs besides times; blocking ones first");
    field("gates", &Diff::gates, "rules, in their order");
    field("comparisons", &Diff::comparisons, "by stage, with their intervals");
    field("stages", &Diff::stages, "where the difference is; means over all runs");
    field("findings", &Diff::findings, "gone and new ones first");
    field("groups", &Diff::groups, "which steps were compared with which");
    field("left_out", &Diff::left_out, "which were not, and by which rule");
    field("ranks", &Diff::ranks, "of two jobs, by rank, then stage; empty otherwise");
  }
};

}  // namespace llmprof::compare
