#include "analysis/stages/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "analysis/stages/measure_stages.h"
#include "base/text.h"

namespace llmprof::analysis {
namespace {

constexpr std::string_view kStepRangeForm = "write A:B (from A, B excluded), A:, :B or one number";

std::set<uint32_t> devices_with_work(const trace::Trace& trace) {
  std::vector<bool> used(trace.queues.size(), false);
  for (const auto* queues :
       {&trace.kernels.queue, &trace.memory_operations.queue, &trace.graph_replays.queue}) {
    for (const trace::QueueId queue : *queues) used[queue.index()] = true;
  }
  std::set<uint32_t> ordinals;
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) ordinals.insert(trace.device_of(trace::QueueId(i)).ordinal);
  }
  return ordinals;
}

std::optional<uint32_t> step_number(std::string_view text) {
  const auto value = parse_int(text);
  if (!value || *value < 0 || *value > UINT32_MAX - 1) return std::nullopt;
  return static_cast<uint32_t>(*value);
}

// Number of steps of every instance of a stage, if they agree.
std::optional<uint32_t> steps_of_each(const Stages& stages, uint32_t stage) {
  std::optional<uint32_t> steps;
  for (const StageInstance& instance : stages.instances) {
    if (instance.warmup || instance.stage != stage) continue;
    if (instance.step_count == 0 || (steps && *steps != instance.step_count)) return std::nullopt;
    steps = instance.step_count;
  }
  return steps;
}

// The instances and steps to keep, and their new places.
class Narrowing {
 public:
  Narrowing(trace::Trace& trace, Stages& stages, const profile::Selection& selection)
      : trace_(trace),
        stages_(stages),
        selection_(selection),
        keep_instance_(stages.instances.size(), false),
        keep_step_(stages.steps.size(), false) {}

  Result<void> run() {
    if (auto chosen = choose(); !chosen) return chosen;
    cut_windows();
    keep_work();
    renumber();
    measure_again(trace_, stages_);
    return {};
  }

 private:
  [[nodiscard]] const std::string& stage_name(const StageInstance& instance) const {
    return stages_.stages[instance.stage].name;
  }

  Result<void> choose() {
    std::map<GpuOfProcess, uint32_t> met;  // an engine's steps so far
    bool any = false;
    uint32_t most_steps = 0;
    for (size_t i = 0; i < stages_.instances.size(); ++i) {
      const StageInstance& instance = stages_.instances[i];
      if (selection_.stage && stage_name(instance) != *selection_.stage) continue;
      // An engine's step is an instance, so steps are counted across instances.
      const uint32_t before = stages_.serving ? met[instance.gpu()] : 0;
      for (uint32_t s = 0; s < instance.step_count; ++s) {
        const bool wanted =
            !selection_.steps || (before + s >= selection_.steps->first &&
                                  before + s <= selection_.steps->last.value_or(UINT32_MAX));
        keep_step_[instance.first_step + s] = wanted;
        if (wanted) keep_instance_[i] = true;
      }
      if (!selection_.steps) keep_instance_[i] = true;
      any = any || keep_instance_[i];
      most_steps = std::max(most_steps, before + instance.step_count);
      if (stages_.serving) met[instance.gpu()] += instance.step_count;
    }
    return any ? Result<void>() : nothing_chosen(most_steps);
  }

  [[nodiscard]] Result<void> nothing_chosen(uint32_t most_steps) const {
    std::vector<std::string_view> names;
    names.reserve(stages_.stages.size());
    for (const Stage& stage : stages_.stages) names.emplace_back(stage.name);
    if (selection_.stage && std::ranges::find(names, *selection_.stage) == names.end()) {
      return fail(ErrorKind::usage, fmt::format("unknown value '{}' for --stage; available: {}",
                                                *selection_.stage, fmt::join(names, ", ")));
    }
    const std::string where = selection_.stage ? " of " + *selection_.stage : std::string();
    if (most_steps == 0) {
      return fail(ErrorKind::usage, fmt::format("--steps: the instances{} have no steps", where));
    }
    const auto& [first, last] = *selection_.steps;
    return fail(ErrorKind::usage,
                fmt::format("--steps {}:{}: no such steps{}; available: 0:{}", first,
                            last.value_or(UINT32_MAX - 1) + 1, where, most_steps));
  }

  void cut_windows() {
    if (!selection_.steps || stages_.serving) return;
    for (size_t i = 0; i < stages_.instances.size(); ++i) {
      if (!keep_instance_[i]) continue;
      StageInstance& instance = stages_.instances[i];
      std::vector<uint32_t> kept;
      for (uint32_t s = 0; s < instance.step_count; ++s) {
        if (keep_step_[instance.first_step + s]) kept.push_back(instance.first_step + s);
      }
      if (kept.size() == instance.step_count) continue;
      stages_.steps[kept.front()].untraced_before = 0;
      instance.untraced_steps = 0;
      for (size_t k = 1; k < kept.size(); ++k) {
        instance.untraced_steps += stages_.steps[kept[k]].untraced_before;
      }
      instance.start = stages_.steps[kept.front()].start;
      instance.end = stages_.steps[kept.back()].end;
      instance.range_end = instance.end;
    }
  }

  void keep_work() {
    stages_.owners.each(trace_, [&](auto& table, auto& instance, auto& step) {
      std::vector<bool> keep(table.size(), false);
      for (size_t i = 0; i < keep.size(); ++i) {
        if (!instance[i].valid() || !keep_instance_[instance[i].index()]) continue;
        const StageInstance& owner = stages_.instances[instance[i].index()];
        // An instance's work outside its steps is dropped if only some steps are selected.
        keep[i] = step[i].valid() ? keep_step_[step[i].index()]
                                  : !selection_.steps || all_steps_kept(owner);
      }
      keep_rows(table, keep);
      keep_marked(instance, keep);
      keep_marked(step, keep);
    });
  }

  [[nodiscard]] bool all_steps_kept(const StageInstance& instance) const {
    return keep_step_[instance.first_step] &&
           keep_step_[instance.first_step + instance.step_count - 1];
  }

  static std::vector<uint32_t> new_places(const std::vector<bool>& keep) {
    std::vector<uint32_t> places(keep.size());
    uint32_t next = 0;
    for (size_t i = 0; i < keep.size(); ++i) {
      places[i] = next;
      if (keep[i]) ++next;
    }
    return places;
  }

  void renumber() {
    keep_marked(stages_.steps, keep_step_);
    stages_.renumber_instances(new_places(keep_instance_));
    stages_.renumber_steps(new_places(keep_step_));
    keep_marked(stages_.instances, keep_instance_);
    stages_.count_steps();
    drop_empty_stages();
  }

  void drop_empty_stages() {
    std::vector<bool> keep(stages_.stages.size(), false);
    for (const StageInstance& instance : stages_.instances) keep[instance.stage] = true;
    const auto places = new_places(keep);
    for (StageInstance& instance : stages_.instances) instance.stage = places[instance.stage];
    keep_marked(stages_.stages, keep);
    std::erase_if(stages_.notes, [&](const NotedPart& note) { return !keep[note.stage]; });
    for (NotedPart& note : stages_.notes) note.stage = places[note.stage];
  }

  trace::Trace& trace_;
  Stages& stages_;
  const profile::Selection& selection_;
  std::vector<bool> keep_instance_;
  std::vector<bool> keep_step_;
};

}  // namespace

std::string instance_unit(const Stages& stages, const profile::Selection& selection,
                          uint32_t stage) {
  if (stages.serving) return "engine step";
  if (selection.steps) {
    const auto steps = steps_of_each(stages, stage);
    if (!steps) return "instance";
    return *steps == 1 ? std::string("step") : fmt::format("{} steps", *steps);
  }
  const bool tokens = stages.stages[stage].name != to_string(StepKind::forward);
  return selection.stage.value_or(tokens ? "request" : "run of passes");
}

Result<profile::StepRange> parse_step_range(std::string_view text) {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorKind::usage, fmt::format("--steps {}: {}; {}", text, what, kStepRangeForm));
  };
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    const auto only = step_number(text);
    if (!only) return wrong("not a step number");
    return profile::StepRange{*only, *only};
  }
  const std::string_view left = text.substr(0, colon);
  const std::string_view right = text.substr(colon + 1);
  if (left.empty() && right.empty()) return wrong("no number");
  const auto first = left.empty() ? std::optional<uint32_t>(0) : step_number(left);
  const auto second = right.empty() ? std::optional<uint32_t>(UINT32_MAX) : step_number(right);
  if (!first || !second) return wrong("not a step number");
  if (*first >= *second) return wrong("the range is empty");
  if (right.empty()) return profile::StepRange{*first, std::nullopt};
  return profile::StepRange{*first, *second - 1};
}

Result<void> keep_device(trace::Trace& trace, uint32_t ordinal) {
  const std::set<uint32_t> ordinals = devices_with_work(trace);
  if (!ordinals.contains(ordinal)) {
    return fail(ErrorKind::usage,
                ordinals.empty()
                    ? fmt::format("--device {}: the capture contains no GPU work", ordinal)
                    : fmt::format("--device {}: no work of this GPU was recorded; available: {}",
                                  ordinal, fmt::join(ordinals, ", ")));
  }
  if (ordinals.size() == 1) return {};
  const auto keep_own = [&](auto& table) {
    std::vector<bool> keep(table.size());
    for (size_t i = 0; i < keep.size(); ++i) {
      keep[i] = trace.device_of(table.queue[i]).ordinal == ordinal;
    }
    keep_rows(table, keep);
  };
  keep_own(trace.kernels);
  keep_own(trace.memory_operations);
  keep_own(trace.graph_replays);
  return {};
}

Result<void> keep_selected(trace::Trace& trace, Stages& stages, const profile::Selection& selection,
                           std::string_view why_none) {
  if (!selection.stage && !selection.steps) return {};
  if (stages.stages.empty()) {
    return fail(ErrorKind::usage,
                fmt::format("no stages were found, so none can be selected{}", why_none));
  }
  return Narrowing(trace, stages, selection).run();
}

}  // namespace llmprof::analysis
