#include "analysis/findings/stage_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/collection/stage_tracing.h"
#include "profile/engine.h"

namespace llmprof::analysis {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// The stage of each piece of work, none for warm-ups.
class SteadyStage {
 public:
  explicit SteadyStage(const Stages& stages) {
    of_instance_.reserve(stages.instances.size());
    for (const StageInstance& instance : stages.instances) {
      of_instance_.push_back(instance.warmup ? kNone : instance.stage);
    }
  }
  [[nodiscard]] uint32_t of(const std::vector<InstanceId>& owners, size_t row) const {
    if (row >= owners.size() || !owners[row].valid()) return kNone;
    return of_instance_[owners[row].index()];
  }

 private:
  std::vector<uint32_t> of_instance_;
};

// A kernel name's first row in the ranking: its class and short name do not depend on the device.
std::vector<uint32_t> rows_by_name(const trace::Trace& trace, const KernelRanking& ranking) {
  std::vector<uint32_t> rows(trace.strings.size(), kNone);
  for (size_t i = ranking.rows.size(); i-- > 0;) {
    rows[ranking.rows[i].name.index()] = static_cast<uint32_t>(i);
  }
  return rows;
}

void add_kernels(const trace::Trace& trace, const Stages& stages, const KernelRanking& ranking,
                 const SteadyStage& steady, std::vector<StageFacts>& facts) {
  const std::vector<uint32_t> row_of = rows_by_name(trace, ranking);
  std::vector<std::vector<KernelInStage>> by_row(facts.size(),
                                                 std::vector<KernelInStage>(ranking.rows.size()));
  const trace::KernelTable& kernels = trace.kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const uint32_t stage = steady.of(stages.owners.kernel_instance, i);
    const uint32_t row = row_of[kernels.name[i].index()];
    if (stage == kNone || row == kNone) continue;
    KernelInStage& kernel = by_row[stage][row];
    ++kernel.calls;
    kernel.total += kernels.end[i] - kernels.start[i];
    ++facts[stage].kernels;
    if (replayed_by_graph(trace, i)) ++facts[stage].graph_kernels;
  }
  for (size_t stage = 0; stage < facts.size(); ++stage) {
    for (size_t row = 0; row < ranking.rows.size(); ++row) {
      if (by_row[stage][row].calls == 0) continue;
      by_row[stage][row].row = row;
      const auto kind = static_cast<size_t>(ranking.rows[row].description.kernel_class);
      facts[stage].by_class[kind].push_back(by_row[stage][row]);
    }
    for (auto& of_class : facts[stage].by_class) {
      std::stable_sort(of_class.begin(), of_class.end(),
                       [](const auto& a, const auto& b) { return a.total > b.total; });
    }
  }
}

void add_copies(const trace::Trace& trace, const Stages& stages, const SteadyStage& steady,
                std::vector<StageFacts>& facts) {
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  std::map<std::pair<uint32_t, uint32_t>, CopiesInStage> found;  // by stage and kind
  for (size_t i = 0; i < memory.size(); ++i) {
    const uint32_t stage = steady.of(stages.owners.memory_instance, i);
    if (stage == kNone) continue;
    const bool fill = memory.kind[i] == trace::MemoryKind::set;
    const trace::StringId direction =
        fill || memory.detail.empty() ? trace::StringId() : memory.detail[i];
    CopiesInStage& copies = found[{stage, fill ? kNone - 1 : direction.value}];
    if (copies.calls == 0) {
      copies.what = fill                ? "fill"
                    : direction.valid() ? std::string(trace.strings[direction])
                                        : "copy";
    }
    ++copies.calls;
    copies.bytes += memory.bytes.empty() ? 0 : memory.bytes[i];
    copies.total += memory.end[i] - memory.start[i];
  }
  for (auto& [key, copies] : found) facts[key.first].copies.push_back(std::move(copies));
  for (StageFacts& stage : facts) {
    std::stable_sort(stage.copies.begin(), stage.copies.end(),
                     [](const auto& a, const auto& b) { return a.total > b.total; });
  }
}

void add_budgets(const Stages& stages, const Budgets& budgets, std::vector<StageFacts>& facts) {
  const auto stage_of = [&](InstanceId instance) {
    return stages.instances[instance.index()].stage;
  };
  for (const IdleGap& gap : budgets.gaps) facts[stage_of(gap.instance)].gaps.push_back(&gap);
  for (const RepeatedGap& gap : budgets.repeated_gaps) {
    facts[stage_of(gap.longest.instance)].repeated_gaps.push_back(&gap);
  }
  for (const SlowStep& step : budgets.slow_steps) {
    const Step& row = stages.steps[step.step.index()];
    facts[stage_of(row.instance)].slow_steps.push_back(&step);
  }
  for (const Step& step : stages.steps) {
    if (!step.instance.valid() || stages.instances[step.instance.index()].warmup) continue;
    ++facts[stage_of(step.instance)].steps;
  }
}

// Where some steps were not traced, all figures are of the others.
std::string traced_part_of(std::string_view unit) {
  const bool vowel = std::string_view("aeiou").find(unit.front()) != std::string_view::npos;
  return fmt::format("traced part of {} {}", vowel ? "an" : "a", unit);
}

// A few generated kernels beside eager layers do not make the stage compiled.
bool is_compiled(const trace::Trace& trace, const StageFacts& facts) {
  constexpr double kWorthNaming = 0.01;
  Nanoseconds whole = 0;
  Nanoseconds generated = 0;
  for (const auto& of_class : facts.by_class) {
    for (const KernelInStage& kernel : of_class) {
      whole += kernel.total;
      const trace::StringId name = facts.ranking->rows[kernel.row].name;
      if (is_generated(trace.strings[name])) generated += kernel.total;
    }
  }
  return generated > 0 &&
         static_cast<double>(generated) >= kWorthNaming * static_cast<double>(whole);
}

ProgramSeen program_of(const trace::Trace& trace, const StageFacts& facts,
                       const profile::Engine& engine) {
  ProgramSeen program;
  program.compiled = is_compiled(trace, facts);
  program.pytorch = engine.framework == profile::kPyTorch || program.compiled;
  if (engine.name != profile::kPyTorch && engine.name != profile::kUnknownEngine) {
    program.engine = engine.name;
  }
  return program;
}

}  // namespace

bool StageFacts::decodes() const {
  return steps > 0 && stage->name != to_string(StepKind::prefill) &&
         stage->name != to_string(StepKind::mixed);
}

std::vector<StageFacts> stage_facts(const FindingEvidence& evidence) {
  const auto& [trace, stages, budgets, recoverable, utilization, ranking, roofline, selection,
               counters, engine, unwatched] = evidence;
  std::vector<StageFacts> facts(budgets.stages.size());
  for (size_t i = 0; i < facts.size(); ++i) {
    facts[i].stage = &stages.stages[i];
    facts[i].budget = &budgets.stages[i];
    facts[i].recoverable = &recoverable[i];
    facts[i].ranking = &ranking;
    facts[i].unit = instance_unit(stages, selection, static_cast<uint32_t>(i));
    if (!selection.steps && !stage_tracing(stages, static_cast<uint32_t>(i)).whole()) {
      facts[i].unit = traced_part_of(facts[i].unit);
    }
    facts[i].serving = stages.serving;
    facts[i].on_cpu = utilization.device == trace::DeviceKind::cpu;
    facts[i].by_part.assign(kBudgetParts, nullptr);
    for (const SavingsPart& part : recoverable[i].parts) facts[i].by_part[part.part] = &part;
  }
  for (const StageUtilization& known : utilization.stages) {
    if (known.stage < facts.size()) facts[known.stage].memory_bound = known.memory_bound;
  }
  const SteadyStage steady(stages);
  add_kernels(trace, stages, ranking, steady, facts);
  for (StageFacts& stage : facts) stage.program = program_of(trace, stage, engine);
  add_copies(trace, stages, steady, facts);
  for (size_t i = 0; i < trace.graph_replays.size(); ++i) {
    const uint32_t stage = steady.of(stages.owners.replay_instance, i);
    if (stage != kNone) ++facts[stage].hidden_replays;
  }
  add_budgets(stages, budgets, facts);
  std::erase_if(facts, [](const StageFacts& f) { return f.budget->instances == 0; });
  return facts;
}

}  // namespace llmprof::analysis
