#include <algorithm>
#include <functional>

#include "analysis/result/parts.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis::result {
namespace {

// Inputs of a stage's figures.
struct StageParts {
  const Prepared& prepared;
  const Stages& stages;
  const Budgets& budgets;
  const UseOfPeaks& utilization;
  const Counters& counters;
  const ClassesOfWork& classes;
  const UntracedStages& untraced;
};

profile::Instance instance(const StageParts& found, size_t row) {
  const StageInstance& from = found.stages.instances[row];
  const Budgets& budgets = found.budgets;
  profile::Instance instance;
  instance.start = to_milliseconds(from.start);
  instance.start_ns = {from.start};
  instance.wall = to_milliseconds(from.wall());
  instance.range = to_milliseconds(from.range_end - from.start);
  instance.gpu_sum = to_milliseconds(from.work.kernel_sum);
  instance.gpu_busy = to_milliseconds(from.work.busy);
  instance.memory_sum = to_milliseconds(from.work.memory_sum);
  instance.hidden_graph_sum = to_milliseconds(from.work.hidden_graph_sum);
  instance.kernel_count = from.work.kernel_count;
  instance.steps = from.step_count;
  instance.untraced_steps = from.untraced_steps;
  instance.warmup = from.warmup;
  if (from.device.valid()) instance.device = device_label(found.prepared.trace, from.device);
  instance.cut_off = from.open_ended;
  if (from.warmup) instance.warmup_reason = from.why_warmup;
  instance.captures_graph = from.captures_graph;
  const auto& classes = found.classes.instances;
  if (row < classes.size()) instance.classes = by_class(classes[row]);
  const auto& slowed = found.counters.instance_slowed;
  if (row < slowed.size()) instance.clocks_lowered = slowed[row];
  if (row < budgets.instances.size()) {
    // For a CPU, several parts share one name.
    instance.budget = by_word<BudgetPart>(budgets.instances[row], [&](size_t part) {
      return budget_part(part, found.prepared.device);
    });
  }
  return instance;
}

std::vector<profile::UntracedPart> budget_of(trace::DeviceKind device, const StageUntraced& from,
                                             double steps) {
  std::vector<profile::UntracedPart> rows;
  for (size_t part = 0; part < kBudgetParts; ++part) {
    if (from.parts[part] <= 0) continue;
    const BudgetPart name = budget_part(part, device);
    auto known = std::ranges::find(rows, name, &profile::UntracedPart::part);
    if (known == rows.end()) {
      known = rows.insert(known, profile::UntracedPart{});
      known->part = name;
      known->idle = is_idle(part);
    }
    known->time.value += to_milliseconds(from.parts[part]).value;
  }
  for (profile::UntracedPart& row : rows) {
    row.share = {row.time.value / to_milliseconds(from.wall).value};
    if (from.per_step) row.per_step = profile::Milliseconds{row.time.value / steps};
  }
  std::ranges::stable_sort(rows, std::greater(), &profile::UntracedPart::time);
  return rows;
}

// `stage` must have all other figures.
void add_untraced(const StageParts& found, uint32_t index, profile::Stage& stage) {
  const auto& all = found.untraced.stages;
  if (index >= all.size()) return;
  const StageUntraced& from = all[index];
  if (!from.known()) {
    stage.untraced_why_not = from.why_not;
    return;
  }
  const profile::StageTracing tracing = stage_tracing(found.stages, index);
  profile::UntracedTimes& result = stage.untraced.emplace();
  result.source = from.source;
  result.wall = to_milliseconds(from.wall);
  if (from.per_step) result.per_step = to_milliseconds(*from.per_step);
  result.added = to_milliseconds(from.added);
  result.added_share = {from.added / from.wall};
  result.busy = to_milliseconds(from.wall - from.idle);
  result.idle = to_milliseconds(from.idle);
  result.idle_share = {from.idle / from.wall};
  result.busy_scaled = from.busy_scale < 1;
  result.passes_timed = from.passes;
  result.instances_timed = from.instances;
  result.steps_recorded = tracing.steps_traced;
  result.steps_all = std::max(tracing.steps_all, from.all_passes);
  const double steps = from.per_step ? from.wall / *from.per_step : 1;
  result.budget = budget_of(found.prepared.device, from, steps);
}

// Assembles one stage.
class StageFigures {
 public:
  StageFigures(const StageParts& found, uint32_t index)
      : found_(found),
        from_(found.stages.stages[index]),
        tracing_(stage_tracing(found.stages, index)) {
    stage_.name = to_printable(from_.name);
    stage_.source = from_.source;
    stage_.evidence = unless_empty(from_.label);
    stage_.evidence_reasons = from_.evidence;
    stage_.wall = times(from_.wall);
    stage_.gpu_sum = times(from_.kernel_sum);
    stage_.gpu_busy = times(from_.busy);
    stage_.kernel_count = numbers(from_.kernel_count);
    if (from_.step_wall.count > 0) stage_.step_wall = times(from_.step_wall);
    stage_.only_the_first = from_.only_the_first;
    count(index);
    if (!found.budgets.stages.empty()) add_budget(found.budgets.stages[index]);
    if (const StageUtilization* use = found.utilization.of(index)) add_utilization(*use);
    stage_.gpu_busy_share_of_wall = share(from_.busy.total(), traced_wall());
    if (!all_traced(tracing_) || not_traced_) {
      stage_.tracing = tracing_;
      stage_.tracing->not_traced = to_milliseconds(not_traced_);
    }
    const auto& measured = found.counters.stages;
    if (index < measured.size()) stage_.measured = measured[index];
    add_untraced(found, index, stage_);
  }

  // Over all instances: the denominator for shares of GPU time.
  [[nodiscard]] double traced_wall() const {
    return from_.wall.total() - not_traced_.value_or(0) * static_cast<double>(from_.wall.count);
  }
  profile::Stage take() { return std::move(stage_); }

 private:
  void count(uint32_t index) {
    const Stages& stages = found_.stages;
    for (size_t row = 0; row < stages.instances.size(); ++row) {
      const StageInstance& from = stages.instances[row];
      if (from.stage != index) continue;
      stage_.instances.push_back(instance(found_, row));
      if (from.warmup) {
        ++stage_.warmup_count;
      } else {
        stage_.step_count += from.step_count;
      }
    }
    stage_.instance_count = stage_.instances.size();
    add_captures();
    for (const Step& step : stages.steps) {
      const StageInstance& owner = stages.instances[step.instance.index()];
      if (owner.stage == index && step.kind == StepKind::decode && !owner.warmup) {
        ++stage_.decode_step_count;
      }
    }
  }

  // The mean that a program's own clock shows if it counts graph capture.
  void add_captures() {
    double sum = 0;
    size_t instances = 0;
    bool any = false;
    for (const profile::Instance& instance : stage_.instances) {
      any = any || instance.captures_graph;
      if (instance.warmup && !instance.captures_graph) continue;
      sum += instance.wall.value;
      ++instances;
    }
    if (any) stage_.wall_with_captures = {sum / static_cast<double>(instances)};
  }

  void add_budget(const StageBudget& budget) {
    std::vector<PartTotal> totals;
    for (size_t part = 0; part < kBudgetParts && budget.instances > 0; ++part) {
      if (budget.total[part] == 0) continue;
      totals.push_back(
          {budget_part(part, found_.prepared.device), budget.total[part], is_idle(part)});
    }
    fill_budget(totals, budget.instances, tracing_.steps_all - tracing_.steps_traced, stage_);
    not_traced_ = unless_zero(budget.not_traced());
  }

  void add_utilization(const StageUtilization& use) {
    if (!use.cost.parts.empty()) {
      stage_.flops = profile::Flops{use.cost.flops()};
      stage_.bytes = profile::Bytes{use.cost.bytes()};
    }
    for (const llm::CostLine& part : use.cost.parts) {
      stage_.cost.push_back({part.name, {part.flops}, {part.weight_bytes}, {part.kv_bytes}});
    }
    stage_.mfu = use.mfu;
    stage_.mbu = use.mbu;
    stage_.why_not_reasons = use.why_not;
    stage_.basis_reasons = use.basis;
    stage_.peak_flops = quantity_unless_zero<profile::FlopsPerSecond>(use.peak_flops);
    stage_.peak_name = unless_empty(use.peak_name);
    stage_.peak_bandwidth = quantity_unless_zero<profile::BytesPerSecond>(use.peak_bandwidth);
    stage_.from_operators = use.from_operators;
    stage_.recorded = use.recorded;
    stage_.flops_per_byte =
        quantity<profile::FlopsPerByte>(ratio(use.cost.flops(), use.cost.bytes()));
    if (use.peak_flops > 0) {
      stage_.ridge = quantity<profile::FlopsPerByte>(ratio(use.peak_flops, use.peak_bandwidth));
    }
    if (!use.floor) return;
    stage_.floor = to_milliseconds(*use.floor);
    stage_.wall_over_floor = ratio(from_.wall.mean, static_cast<double>(*use.floor));
    stage_.memory_bound = use.memory_bound;
  }

  const StageParts& found_;
  const Stage& from_;
  profile::StageTracing tracing_;
  std::optional<double> not_traced_;  // ns per instance, mean
  profile::Stage stage_;
};

}  // namespace

profile::StagesFound stages_found(const Stages& stages) {
  profile::StagesFound found;
  if (!stages.stages.empty()) found.serving = stages.serving;
  if (stages.confidence) {
    found.confidence = {measured_confidence(*stages.confidence)};
    found.confidence_level = stages.confidence;
  }
  found.reasons = stages.reason;
  return found;
}

std::vector<profile::Stage> stages(const Prepared& in, const Stages& stages, const Budgets& budgets,
                                   const UseOfPeaks& utilization, const Counters& counters,
                                   const ClassesOfWork& classes, const UntracedStages& untraced) {
  const StageParts parts{in, stages, budgets, utilization, counters, classes, untraced};
  const std::vector<Stage>& from = stages.stages;
  double all = 0;
  for (const Stage& stage : from) all += stage.wall.total();
  std::vector<profile::Stage> rows;
  for (size_t i = 0; i < from.size(); ++i) {
    rows.push_back(StageFigures(parts, static_cast<uint32_t>(i)).take());
    rows.back().share_of_stage_time = share(from[i].wall.total(), all).value_or(profile::Share{});
  }
  return rows;
}

std::vector<profile::StageNote> stage_notes(const Stages& stages) {
  std::vector<profile::StageNote> rows;
  rows.reserve(stages.notes.size());
  for (const NotedPart& note : stages.notes) {
    rows.push_back({to_printable(stages.stages[note.stage].name), to_printable(note.name),
                    note.instances, to_milliseconds(note.range_time), note.kernel_count,
                    to_milliseconds(note.kernel_sum)});
  }
  return rows;
}

}  // namespace llmprof::analysis::result
