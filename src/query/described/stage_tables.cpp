#include <fmt/format.h>

#include "query/described/profile_tables.h"
#include "query/described/without_paths.h"

namespace llmprof::query {
namespace {

using profile::Profile;

std::optional<std::string> lack_of_stages(const Profile& profile, size_t /*rows*/) {
  return no_stages(profile);
}

std::optional<std::string> lack_of_steps(const Profile& profile, size_t /*rows*/) {
  if (!profile.steps.empty()) return std::nullopt;
  if (auto none = no_stages(profile)) return none;
  return "no stage of this run has steps. Annotate them (docs/collector.md), or record every "
         "kernel of a decode, so that llmprof detects them";
}

std::optional<std::string> lack_of_layers(const Profile& profile, size_t rows) {
  if (rows > 0) return std::nullopt;
  if (auto none = no_stages(profile)) return none;
  return profile.layer_summary.why_not ? without_paths(*profile.layer_summary.why_not)
                                       : std::string("the kernels of this run show no layers");
}

}  // namespace

std::optional<std::string> no_stages(const Profile& profile) {
  if (!profile.stages.empty()) return std::nullopt;
  return fmt::format(
      "{}. Mark prefill and decode in the program with NVTX ranges or llmprof's "
      "annotations (docs/stages.md), and record its timeline: `llmprof run -- "
      "PROGRAM`",
      profile.stages_found.reason ? without_paths(*profile.stages_found.reason)
                                  : "this run has no stages");
}

std::vector<DescribedTable> stage_tables() {
  return {
      {.name = "stages",
       .meaning = "stages, such as prefill and decode: times per instance, utilization, floor",
       .path = "stages",
       .lack = lack_of_stages},
      {.name = "instances",
       .meaning = "one row per occurrence of a stage on one GPU",
       .path = "stages.instances",
       .keys = {"stage=name", "instance"},
       .lack = lack_of_stages},
      {.name = "instance_classes",
       .meaning = "kernel time of an instance by class, overlap not removed",
       .path = "stages.instances.classes_ns",
       .keys = {"stage=name", "instance", "class"},
       .value = "ns",
       .lack = lack_of_stages},
      {.name = "instance_budget",
       .meaning = "wall time of an instance by part of the budget; the parts sum to its wall time",
       .path = "stages.instances.budget_ns",
       .keys = {"stage=name", "instance", "part"},
       .value = "ns",
       .lack = lack_of_stages},
      {.name = "stage_budget",
       .meaning = "parts of a stage's wall time, largest first: kernel classes, idle time by cause",
       .path = "stages.budget",
       .keys = {"stage=name"},
       .lack = lack_of_stages},
      {.name = "stage_cost",
       .meaning = "FLOPs and bytes of a stage by part of the model; empty without a model",
       .path = "stages.cost",
       .keys = {"stage=name"},
       .lack = lack_of_stages},
      {.name = "steps",
       .meaning = "one row per forward pass",
       .path = "steps",
       .keys = {"step"},
       .lack = lack_of_steps},
      {.name = "step_classes",
       .meaning = "kernel time of a step by class, overlap not removed",
       .path = "steps.classes_ns",
       .keys = {"step", "class"},
       .value = "ns",
       .lack = lack_of_steps},
      {.name = "slow_steps",
       .meaning = "the slowest steps of each stage",
       .path = "slow_steps",
       .lack = lack_of_steps},
      {.name = "slow_step_reasons",
       .meaning = "what made a slow step longer than the median step; they sum to above_median_ms",
       .path = "slow_steps.reasons",
       .keys = {"step=step"},
       .lack = lack_of_steps},
      {.name = "gaps",
       .meaning = "the longest idle gaps of each stage, with their cause",
       .path = "gaps",
       .lack = lack_of_stages},
      {.name = "repeated_gaps",
       .meaning = "gaps that recur at the same place of a stage",
       .path = "repeated_gaps",
       .lack = lack_of_stages},
      {.name = "layers",
       .meaning = "kernel time per layer; parts of a layer have part = 1, other work outside = 1",
       .path = "layers",
       .lack = lack_of_layers},
      {.name = "layer_classes",
       .meaning = "kernel time of a layer per forward pass, by class",
       .path = "layers.classes",
       .keys = {"stage=stage,layer=name", "class"},
       .value = "ms_per_step",
       .lack = lack_of_layers},
      {.name = "layer_summary",
       .meaning = "layers of each stage together",
       .path = "layer_summary.stages",
       .lack = lack_of_layers},
      {.name = "findings",
       .meaning = "what to fix, largest potential saving first",
       .path = "findings",
       .keys = {"finding"}},
      {.name = "finding_values",
       .meaning = "the numbers behind a finding",
       .path = "findings.values",
       .keys = {"finding"}},
      {.name = "savings",
       .meaning = "time above lower bounds, by part of a stage's budget",
       .path = "recoverable.parts",
       .keys = {"stage=stage"},
       .lack = lack_of_stages},
      {.name = "kernel_savings",
       .meaning = "time above lower bounds, by kernel",
       .path = "recoverable.kernels",
       .keys = {"stage=stage"},
       .lack = lack_of_stages},
  };
}

}  // namespace llmprof::query
