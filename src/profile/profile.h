#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/context.h"
#include "profile/engine.h"
#include "profile/findings.h"
#include "profile/job.h"
#include "profile/kernels.h"
#include "profile/layers.h"
#include "profile/memory.h"
#include "profile/memory_ledger.h"
#include "profile/memory_statements.h"
#include "profile/operators.h"
#include "profile/products.h"
#include "profile/reasons.h"
#include "profile/requests.h"
#include "profile/run.h"
#include "profile/sequence.h"
#include "profile/stages.h"
#include "profile/steps.h"
#include "profile/timeline.h"
#include "profile/token_times.h"
#include "profile/totals.h"

namespace llmprof::profile {

inline constexpr uint64_t kSchemaVersion = 1;

// Everything known about one run or capture, as plain values that own their data. Each struct
// describes itself once (`fields`: a name, a member whose type carries the unit, the meaning). The
// JSON writer and reader, the JSON Schema and the tables of docs/profile-schema.md use that
// description. A missing value is null, never 0. Texts are printable UTF-8.
struct Profile {
  uint64_t schema_version = kSchemaVersion;
  Tool tool;
  Context context;
  std::optional<Selection> selection;
  std::optional<Model> model;
  Workload workload;
  Engine engine;
  Totals totals;
  std::vector<DeviceTime> device_time;
  std::vector<Copies> copies;
  StagesFound stages_found;
  std::optional<Coverage> coverage;
  TokenTimes token_times;
  std::optional<Requests> requests;
  std::optional<MemoryLedger> memory_ledger;
  std::vector<MemoryStatement> memory_statements;
  std::optional<Memory> memory;
  std::vector<Stage> stages;
  std::vector<StageNote> stage_notes;
  std::vector<Finding> findings;
  std::vector<PotentialSavings> savings;
  Utilization utilization;
  std::optional<Stage1> stage1;
  std::vector<Kernel> kernels;
  std::vector<KernelClassTotal> classes;
  std::vector<KernelRecord> kernels_topk;
  std::vector<KernelOnAllDevices> kernels_all_devices;
  std::vector<KernelOnAllDevices> measured_kernels_all_devices;
  Roofline roofline;
  std::vector<Product> products;
  ProductsFound products_found;
  std::vector<Operator> operators;
  OperatorsFound operators_found;
  std::vector<Gap> gaps;
  std::vector<RepeatedGap> repeated_gaps;
  std::vector<SlowStep> slow_steps;
  std::vector<Layer> layers;
  LayerSummary layer_summary;
  std::vector<Step> steps;
  std::optional<Overhead> overhead;
  std::vector<CaptureFailure> captures_failed;
  std::vector<Diagnostic> diagnostics;
  std::optional<std::string> slow_step_rule;
  Reasons slow_step_rule_reasons;
  std::vector<KernelSequence> kernel_sequences;
  std::optional<Job> job;
  std::vector<Rank> ranks;

  // Compiled once, in profile.cpp; otherwise every unit that copies or destroys one would compile
  // it.
  Profile();
  Profile(const Profile& other);
  Profile(Profile&& other) noexcept;
  Profile& operator=(const Profile& other);
  Profile& operator=(Profile&& other) noexcept;
  ~Profile();

  void fields(auto& field) const {
    field("schema_version", schema_version, "version of this file's format");
    field("tool", tool, "program that wrote this file");
    field("context", context, "captures, devices and machine");
    field("selection", selection, "what --stage, --steps and --device selected; null without them");
    field("model", model, "the model; null without --model");
    field("workload", workload, "what ran");
    field("engine", engine, "program that runs the model, as far as the captures show");
    field("totals", totals, "all kernels");
    field("device_time", device_time,
          "what each GPU did over its whole timeline; empty without one");
    field("copies", copies,
          "copies and fills by device, direction and kind of memory; by device, then longest total "
          "first");
    field("stages_found", stages_found, "how stages were found");
    field("coverage", coverage, "kernels inside stages; null without a timeline");
    field("token_times", token_times, "token times and rates that a user of the model sees");
    field("requests", requests,
          "requests of a client, and what each one waited for; null without a file of requests");
    field("memory_ledger", memory_ledger,
          "what every byte of GPU memory is used for, at moments of the run; null without recorded "
          "allocations of GPU memory");
    field("memory_statements", memory_statements,
          "what the engine says of its memory in its log, beside what was recorded");
    field("memory", memory,
          "GPU memory inside PyTorch, by its memory snapshots and the memory events of its traces; "
          "null without either");
    field("stages", stages, "stages, in order of first occurrence");
    field("stage_notes", stage_notes, "parts inside a stage (vision tower, projector)");
    field("findings", findings, "what to fix, largest potential saving first");
    field("recoverable", savings, "time above lower bounds, by stage");
    field("utilization", utilization, "the peaks that MFU and MBU are measured against");
    field("stage1", stage1,
          "what the workload measured itself, unprofiled; null without its metrics.json");
    field("kernels", kernels, "all kernels, longest total first");
    field("classes", classes, "kernel classes, longest total first");
    field("kernels_topk", kernels_topk, "the first 20 kernels");
    field("kernels_all_devices", kernels_all_devices,
          "the ten longest kernel names, all devices together");
    field("measured_kernels_all_devices", measured_kernels_all_devices,
          "the ten longest kernel names in the stages without warm-up, with their times there; "
          "empty without stages");
    field("roofline", roofline, "what bounds the kernels");
    field("products", products,
          "matrix products by stage, role, dimensions, types and kernel, longest total first");
    field("products_found", products_found, "how much of the matrix products has dimensions");
    field("operators", operators, "operators of the framework");
    field("operators_found", operators_found, "how much of the GPU's work operators launched");
    field("gaps", gaps, "the longest idle gaps of each stage");
    field("repeated_gaps", repeated_gaps, "gaps that recur at the same place of a stage");
    field("slow_steps", slow_steps, "the slowest steps of each stage");
    field("layers", layers, "layers, by stage");
    field("layer_summary", layer_summary, "layers of each stage together");
    field("steps", steps, "steps, by instance and start");
    field("overhead", overhead,
          "cost of profiling; null unless the input is a run folder or a log with a duty cycle");
    field("captures_failed", captures_failed, "captures that a run requested and did not get");
    field("diagnostics", diagnostics, "what to know about the input");
    field("slow_step_rule", slow_step_rule, "rule for slow steps, with its thresholds");
    field("slow_step_rule_reasons", slow_step_rule_reasons, "slow_step_rule as kinds and values");
    field("kernel_sequences", kernel_sequences,
          "kernels of forward passes by stage and position, to distinguish replaced, fused and "
          "removed kernels");
    field("job", job,
          "waits, collectives and stragglers of a distributed job, otherwise null; stages, steps, "
          "token_times and findings then describe the job: one step on all ranks is one step");
    field("ranks", ranks, "each rank of a job; empty otherwise");
  }
};

// Null if there is none.
const Stage* find_stage(const Profile& profile, std::string_view name);

// A text as a template argument.
template <size_t size>
struct FixedText {
  char text[size];  // NOLINT(modernize-avoid-c-arrays): of a literal

  // NOLINTNEXTLINE(google-explicit-constructor): `Topic<"copies">`
  consteval FixedText(const char (&from)[size]) { std::copy_n(from, size, text); }
};

// Names a topic. Modules overload functions by topic: `add_section` in report, `merge` in
// job/profile. A missing overload does not compile.
template <FixedText name>
struct Topic {
  static constexpr std::string_view kName = name.text;
};

// How a job gets a topic from its ranks.
enum class OfJob : uint8_t {
  first_rank,  // equal on all ranks
  all_ranks,   // all ranks' rows, each device prefixed with its rank
  merged,      // by an overload of merge
  none,        // for single ranks only, or found by merging itself
};

// When report.md has a section on the topic.
enum class Section : uint8_t { always, on_gpus, none };

// A topic's properties; `view` is the id of the page's view that shows it.
template <FixedText name, OfJob of_job, Section section, FixedText view>
struct TopicRow {
  static constexpr Topic<name> kTopic{};
  static constexpr OfJob kOfJob = of_job;
  static constexpr Section kSection = section;
  static constexpr std::string_view kView = view.text;
};

// The topics of a profile, in the order of report.md and of merging. Calls `visit` with each row
// and the members of Profile that hold the topic. Passes fill these members: see `into` in
// analysis/pass_table.cpp.
template <class Visit>
void each_topic(const Visit& visit) {
  using P = Profile;
  using enum OfJob;
  constexpr Section kNone = Section::none;
  constexpr Section kAlways = Section::always;
  constexpr Section kOnGpus = Section::on_gpus;
  visit(TopicRow<"selection", first_rank, kNone, "overview">(), &P::selection);
  visit(TopicRow<"model", first_rank, kNone, "overview">(), &P::model);
  visit(TopicRow<"workload", first_rank, kNone, "overview">(), &P::workload);
  visit(TopicRow<"failed captures", merged, kAlways, "overview">(), &P::captures_failed);
  visit(TopicRow<"captures", merged, kAlways, "provenance">(), &P::context);
  visit(TopicRow<"engine", first_rank, kAlways, "overview">(), &P::engine);
  visit(TopicRow<"key figures", merged, kAlways, "overview">(), &P::totals);
  visit(TopicRow<"job", none, kAlways, "job">(), &P::job, &P::ranks);
  visit(TopicRow<"stages found", first_rank, kNone, "overview">(), &P::stages_found);
  visit(TopicRow<"coverage", merged, kNone, "overview">(), &P::coverage);
  visit(TopicRow<"stages", merged, kAlways, "overview">(), &P::stages, &P::steps);
  visit(TopicRow<"stage notes", merged, kNone, "overview">(), &P::stage_notes);
  visit(TopicRow<"requests", merged, kAlways, "requests">(), &P::requests);
  visit(TopicRow<"plots of requests", none, kAlways, "">());
  visit(TopicRow<"token times", merged, kAlways, "overview">(), &P::token_times);
  visit(TopicRow<"workload's own times", merged, kNone, "overview">(), &P::stage1);
  visit(TopicRow<"utilization", first_rank, kAlways, "overview">(), &P::utilization);
  visit(TopicRow<"measured", none, kAlways, "overview">());     // in stages
  visit(TopicRow<"time budget", none, kAlways, "overview">());  // in stages
  visit(TopicRow<"plot of budgets", none, kAlways, "">());
  visit(TopicRow<"idle gaps", none, kAlways, "steps">(), &P::gaps, &P::repeated_gaps);
  visit(TopicRow<"slow steps", none, kAlways, "steps">(), &P::slow_steps,
        &P::slow_step_rule_reasons);
  visit(TopicRow<"plot of steps", none, kAlways, "">());
  visit(TopicRow<"device time", all_ranks, kOnGpus, "gpu">(), &P::device_time);
  visit(TopicRow<"copies", all_ranks, kOnGpus, "gpu">(), &P::copies);
  visit(TopicRow<"launches", none, kOnGpus, "gpu">());  // in device times
  visit(TopicRow<"memory ledger", none, kAlways, "memory">(), &P::memory_ledger,
        &P::memory_statements);
  visit(TopicRow<"memory", none, kAlways, "memory">(), &P::memory);
  visit(TopicRow<"layers", none, kAlways, "layers">(), &P::layers, &P::layer_summary);
  visit(TopicRow<"kernels", merged, kAlways, "kernels">(), &P::kernels, &P::classes,
        &P::kernels_topk, &P::kernels_all_devices, &P::measured_kernels_all_devices);
  visit(TopicRow<"plot of kernels", none, kAlways, "">());
  visit(TopicRow<"kernel sequences", merged, kNone, "">(), &P::kernel_sequences);
  visit(TopicRow<"roofline", merged, kAlways, "roofline">(), &P::roofline);
  visit(TopicRow<"plot of the roofline", none, kAlways, "">());
  visit(TopicRow<"products", none, kOnGpus, "kernels">(), &P::products, &P::products_found);
  visit(TopicRow<"potential savings", none, kAlways, "overview">(), &P::savings);
  visit(TopicRow<"findings", merged, kAlways, "overview">(), &P::findings);
  visit(TopicRow<"operators", merged, kAlways, "operators">(), &P::operators, &P::operators_found);
  visit(TopicRow<"overhead", first_rank, kAlways, "overview">(), &P::overhead);
  visit(TopicRow<"diagnostics", merged, kAlways, "provenance">(), &P::diagnostics);
}

}  // namespace llmprof::profile
