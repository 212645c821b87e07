#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/budget_parts.h"
#include "profile/finding_kinds.h"
#include "profile/finding_values.h"
#include "profile/quantity.h"
#include "profile/reasons.h"
#include "profile/requests.h"

namespace llmprof::profile {

// A value whose text is a sentence, as reason kinds and values.
struct FindingValueReasons {
  uint64_t value = 0;
  Reasons reasons;

  void fields(auto& field) const {
    field("value", value, "index in values");
    field("reasons", reasons, "reasons that its text gives, in order");
  }
};

// A figure of requests that contains the time of a finding.
struct FigureSaving {
  RequestFigure figure{};
  std::optional<Milliseconds> mean;
  std::optional<Share> quantile;
  std::optional<Milliseconds> tail;

  void fields(auto& field) const {
    field("figure", figure, "the figure");
    field("mean_ms", mean, "potential saving in its mean, upper bound");
    field("quantile", quantile, "share of the values below the tail; null if the tail is unknown");
    field("tail_ms", tail,
          "part of the mean in the tail that values around the median do not have: what the "
          "finding explains of it");
  }
};

// Advice with evidence. Sorted by potential saving, largest first; those on memory are last.
struct Finding {
  FindingKind kind{};
  std::string title;
  std::string evidence;
  std::optional<Milliseconds> saving;
  std::optional<Milliseconds> total_saving;
  std::optional<std::string> unit;
  std::string advice;
  std::optional<std::string> stage;
  std::optional<Milliseconds> saving_per_token;
  Share share_of_wall;
  std::optional<std::string> subject;
  std::vector<FindingValue> values;
  std::optional<Milliseconds> saving_per_output_token;
  std::vector<FindingValueReasons> value_reasons;
  std::optional<uint64_t> rank;
  bool traced_part = false;
  std::vector<FigureSaving> figures;

  void fields(auto& field) const {
    field("kind", kind, "stable kind, for scripts; stage, kind and subject are its key");
    field("title", title, "what was found");
    field("evidence", evidence, "numbers, with their denominators");
    field(
        "recoverable_ms", saving,
        "potential saving per unit, upper bound; null if the capture hides it, and for findings on "
        "memory");
    field("total_recoverable_ms", total_saving,
          "potential saving over all measured instances of the stage; for a finding on requests, "
          "share_of_wall of the time in which requests were in flight; findings are sorted by it");
    field("unit", unit,
          "unit of recoverable_ms: request (also of findings on requests, which have no stage); "
          "engine step under continuous batching; with a "
          "selection the stage's name, \"step\" or \"8 steps\"; \"traced part of a request\" if "
          "not all steps were traced");
    field("advice", advice, "what to do");
    field("stage", stage, "stage that it belongs to");
    field("recoverable_ms_per_token", saving_per_token,
          "potential saving over the tokens of all sequences");
    field("share_of_wall", share_of_wall,
          "recoverable_ms over the stage's wall time; for a finding on requests, over their mean "
          "time from sent to end");
    field("subject", subject,
          "distinguishes findings of one kind and stage: for host_stall_repeated the GPU work "
          "before and after the gaps; for findings on memory the GPU; otherwise null");
    field("values", values, "values in the evidence, by name");
    field("recoverable_ms_per_output_token", saving_per_output_token,
          "potential saving per decode step, which gives every sequence one token: comparable with "
          "time_per_output_token_ms");
    field("value_reasons", value_reasons, "reasons in values, as kinds and values");
    field("rank", rank, "in a job, the rank that others wait for; otherwise null");
    field("traced_part", traced_part,
          "recoverable_ms covers the traced steps only, because other steps were not traced");
    field("figures", figures,
          "figures of requests that contain this time; empty unless the finding is on requests");
  }
};

struct PartSaving {
  TimePart part = TimePart::unattributed;
  Milliseconds time;
  Milliseconds floor;
  std::optional<std::string> floor_rule;
  Milliseconds saving;
  std::optional<Milliseconds> saving_per_token;
  std::optional<Milliseconds> saving_per_output_token;
  Reasons floor_rule_reasons = {};
  bool shown = true;

  void fields(auto& field) const {
    field("part", part, "part of the budget");
    field("ms", time, "mean time per instance");
    field("floor_ms", floor, "lower bound of that time");
    field("floor_rule", floor_rule, "how the floor was found");
    field("recoverable_ms", saving, "time above the floor");
    field("recoverable_ms_per_token", saving_per_token,
          "potential saving over the tokens of all sequences");
    field("recoverable_ms_per_output_token", saving_per_output_token,
          "potential saving per decode step");
    field("floor_rule_reasons", floor_rule_reasons, "floor_rule as kinds and values");
    field("shown", shown,
          "reports and the page list it: recoverable_ms is at least 0.01 of the stage's wall_ms");
  }
};

enum class FloorBasis : uint8_t { own_counters, share_of_class };
constexpr auto words_of(FloorBasis /*of*/) {
  using enum FloorBasis;
  return vocabulary<FloorBasis>({
      {own_counters, "ncu counted them on one grid, and all launches in the stage match",
       "own bytes and FLOPs, ncu"},
      {share_of_class, "by time", "share of the class's floor"},
  });
}

struct KernelSaving {
  std::string short_name;
  std::string device;
  Milliseconds time;
  Milliseconds floor;
  std::optional<std::string> floor_rule;
  FloorBasis floor_basis = FloorBasis::share_of_class;
  Milliseconds saving;
  std::optional<Milliseconds> saving_per_token;
  std::optional<Milliseconds> saving_per_output_token;
  Reasons floor_rule_reasons = {};

  void fields(auto& field) const {
    field("short_name", short_name, "as in kernels");
    field("device", device, "as in kernels");
    field("ms", time, "mean time per instance; overlapping kernels count in full");
    field("floor_ms", floor, "lower bound of that time");
    field("floor_rule", floor_rule, "how the floor was found");
    field("floor_basis", floor_basis, "what the floor comes from");
    field("recoverable_ms", saving, "time above the floor");
    field("recoverable_ms_per_token", saving_per_token,
          "potential saving over the tokens of all sequences");
    field("recoverable_ms_per_output_token", saving_per_output_token,
          "potential saving per decode step");
    field("floor_rule_reasons", floor_rule_reasons, "floor_rule as kinds and values");
  }
};

struct PotentialSavings {
  std::string stage;
  Milliseconds wall;
  std::optional<Milliseconds> bound;
  std::optional<std::string> bound_reason;
  std::optional<double> tokens;
  std::vector<PartSaving> parts;
  std::vector<KernelSaving> kernels;
  Reasons bound_reasons;
  std::optional<Milliseconds> most;

  void fields(auto& field) const {
    field("stage", stage, "stage that the rows belong to (its traced steps)");
    field("wall_ms", wall, "mean wall time per instance, minus untraced time");
    field("bound_ms", bound, "end-to-end lower bound");
    field("bound_reason", bound_reason, "why bound_ms is missing");
    field("tokens", tokens, "generated tokens of all sequences, per instance");
    field("parts", parts, "parts of the budget, largest potential saving first");
    field("kernels", kernels, "kernels, largest potential saving first");
    field("bound_reasons", bound_reasons, "bound_reason as kinds and values");
    field("most_ms", most,
          "upper limit of the stage's savings: its unprofiled time by the workload's clock, minus "
          "bound_ms if that is shorter; null unless the recorded stage took longer");
  }
};

}  // namespace llmprof::profile
