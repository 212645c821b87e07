#include "analysis/findings/stage_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/budget/gpu_timeline.h"
#include "profile/engine.h"

namespace llmprof::analysis {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

constexpr auto kLongestFirst = [](const auto& a, const auto& b) { return a.total > b.total; };

class FactsCollector {
 public:
  explicit FactsCollector(const FindingEvidence& evidence)
      : trace_(evidence.trace),
        stages_(evidence.stages),
        ranking_(evidence.ranking),
        facts_(evidence.budgets.stages.size()) {
    steady_stage_.reserve(stages_.instances.size());
    for (const StageInstance& instance : stages_.instances) {
      steady_stage_.push_back(instance.warmup ? kNone : instance.stage);
    }
    for (uint32_t i = 0; i < facts_.size(); ++i) begin(evidence, i);
    add_kernels();
    for (StageFacts& stage : facts_) recognize_program(evidence.engine, stage);
    add_copies();
    for (size_t i = 0; i < trace_.graph_replays.size(); ++i) {
      const uint32_t stage = stage_of(stages_.owners.replay_instance, i);
      if (stage != kNone) ++facts_[stage].hidden_replays;
    }
    add_budgets(evidence.budgets);
  }

  std::vector<StageFacts> take() {
    std::erase_if(facts_, [](const StageFacts& f) { return f.budget->instances == 0; });
    return std::move(facts_);
  }

 private:
  // The stage of a piece of work; none for warm-ups.
  [[nodiscard]] uint32_t stage_of(const std::vector<InstanceId>& owners, size_t row) const {
    if (row >= owners.size() || !owners[row].valid()) return kNone;
    return steady_stage_[owners[row].index()];
  }

  void begin(const FindingEvidence& evidence, uint32_t i) {
    StageFacts& facts = facts_[i];
    facts.evidence = &evidence;
    facts.index = i;
    facts.stage = &stages_.stages[i];
    facts.budget = &evidence.budgets.stages[i];
    facts.savings = &evidence.savings[i];
    const StageUtilization* use = evidence.utilization.of(i);
    facts.memory_bound = use != nullptr && use->memory_bound;
    facts.unit = instance_unit(stages_, evidence.selection, i);
    // If some steps were not traced, all figures cover only the others.
    facts.traced_part = !evidence.selection.steps && !all_traced(stage_tracing(stages_, i));
    if (facts.traced_part) {
      const bool vowel = std::string_view("aeiou").find(facts.unit.front()) != std::string::npos;
      facts.unit = fmt::format("traced part of {} {}", vowel ? "an" : "a", facts.unit);
    }
    facts.by_part.assign(kBudgetParts, nullptr);
    for (const SavingsPart& part : facts.savings->parts) facts.by_part[part.part] = &part;
  }

  // A kernel name's first row in the ranking: its class and short name do not depend on the device.
  [[nodiscard]] std::vector<uint32_t> rows_by_name() const {
    std::vector<uint32_t> rows(trace_.strings.size(), kNone);
    for (size_t i = ranking_.rows.size(); i-- > 0;) {
      rows[ranking_.rows[i].name.index()] = static_cast<uint32_t>(i);
    }
    return rows;
  }

  void add_kernels() {
    const std::vector<uint32_t> row_of = rows_by_name();
    std::vector<std::vector<KernelInStage>> by_row(
        facts_.size(), std::vector<KernelInStage>(ranking_.rows.size()));
    const trace::KernelTable& kernels = trace_.kernels;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const uint32_t stage = stage_of(stages_.owners.kernel_instance, i);
      const uint32_t row = row_of[kernels.name[i].index()];
      if (stage == kNone || row == kNone) continue;
      KernelInStage& kernel = by_row[stage][row];
      kernel.row = row;
      kernel += {1, kernels.end[i] - kernels.start[i]};
      ++facts_[stage].kernels;
      if (replayed_by_graph(trace_, i)) ++facts_[stage].graph_kernels;
    }
    for (size_t stage = 0; stage < facts_.size(); ++stage) {
      auto& by_class = facts_[stage].by_class;
      for (const KernelInStage& kernel : by_row[stage]) {
        if (kernel.calls == 0) continue;
        const KernelClass kind = ranking_.rows[kernel.row].description.kernel_class;
        by_class[static_cast<size_t>(kind)].push_back(kernel);
      }
      for (auto& kernels_of : by_class) std::ranges::stable_sort(kernels_of, kLongestFirst);
    }
  }

  void add_copies() {
    const trace::MemoryOperationTable& memory = trace_.memory_operations;
    std::map<std::pair<uint32_t, std::string_view>, CopiesInStage> found;  // by stage and kind
    for (size_t i = 0; i < memory.size(); ++i) {
      const uint32_t stage = stage_of(stages_.owners.memory_instance, i);
      if (stage == kNone) continue;
      const std::string_view what = memory_operation_name(trace_, i);
      CopiesInStage& copies = found[{stage, what}];
      copies.what = what;
      copies += {1, memory.end[i] - memory.start[i]};
      copies.bytes += memory.bytes.empty() ? 0 : memory.bytes[i];
    }
    for (auto& [key, copies] : found) facts_[key.first].copies.push_back(std::move(copies));
    for (StageFacts& stage : facts_) std::ranges::stable_sort(stage.copies, kLongestFirst);
  }

  void add_budgets(const Budgets& budgets) {
    const auto facts_of = [&](InstanceId instance) -> StageFacts& {
      return facts_[stages_.instances[instance.index()].stage];
    };
    for (const IdleGap& gap : budgets.gaps) facts_of(gap.instance).gaps.push_back(&gap);
    for (const RepeatedIdleGap& gap : budgets.repeated_gaps) {
      facts_of(gap.longest.instance).repeated_gaps.push_back(&gap);
    }
    for (const profile::SlowStep& slow : budgets.slow_steps) {
      facts_of(stages_.steps[slow.step].instance).slow_steps.push_back(&slow);
    }
    for (const Step& step : stages_.steps) {
      if (!step.instance.valid() || stages_.instances[step.instance.index()].warmup) continue;
      ++facts_of(step.instance).steps;
    }
  }

  // A few generated kernels among eager layers do not make the stage compiled.
  [[nodiscard]] bool is_compiled(const StageFacts& facts) const {
    constexpr double kWorthNaming = 0.01;
    Nanoseconds whole = 0;
    Nanoseconds generated = 0;
    for (const auto& of_class : facts.by_class) {
      for (const KernelInStage& kernel : of_class) {
        whole += kernel.total;
        const KernelDescription& described = ranking_.rows[kernel.row].description;
        if (described.has(KernelTrait::generated)) generated += kernel.total;
      }
    }
    return generated > 0 &&
           static_cast<double>(generated) >= kWorthNaming * static_cast<double>(whole);
  }

  void recognize_program(const profile::Engine& engine, StageFacts& facts) const {
    facts.compiled = is_compiled(facts);
    facts.pytorch = engine.framework == profile::kPyTorch || facts.compiled;
    if (engine.name != profile::kPyTorch && engine.name != profile::kUnknownEngine) {
      facts.engine = engine.name;
    }
  }

  const trace::Trace& trace_;
  const Stages& stages_;
  const KernelRanking& ranking_;
  std::vector<uint32_t> steady_stage_;  // by instance; none for warm-ups
  std::vector<StageFacts> facts_;
};

}  // namespace

bool StageFacts::decodes() const {
  return steps > 0 && stage->name != to_string(StepKind::prefill) &&
         stage->name != to_string(StepKind::mixed);
}

std::vector<StageFacts> stage_facts(const FindingEvidence& evidence) {
  return FactsCollector(evidence).take();
}

profile::FindingValues program_values(const StageFacts& facts) {
  profile::FindingValues values;
  values.add("compiled", facts.compiled);
  if (!facts.engine.empty()) values.add("engine", facts.engine);
  if (facts.pytorch) values.add("framework", "PyTorch");
  return values;
}

Finding& add_finding(const StageFacts& facts, profile::FindingKind kind, double saving,
                     profile::FindingValues values, std::vector<Finding>& findings) {
  saving = std::min(saving, facts.savings->most);
  Finding& finding = findings.emplace_back();
  finding.kind = kind;
  finding.values = std::move(values).take();
  finding.stage = facts.stage->name;
  finding.saving = profile::to_milliseconds(saving);
  finding.total_saving = profile::to_milliseconds(saving * facts.instances());
  finding.unit = facts.unit;
  finding.traced_part = facts.traced_part;
  if (const double tokens = facts.savings->tokens; tokens > 0) {
    finding.saving_per_token = profile::to_milliseconds(saving / tokens);
    const double steps = facts.savings->decode_steps;
    if (steps > 0) {
      finding.saving_per_output_token = profile::to_milliseconds(saving / steps);
    }
  }
  const double wall = facts.savings->wall;
  finding.share_of_wall = {wall > 0 ? saving / wall : 0};
  return finding;
}

void explain_value(std::string_view name, profile::Reasons reasons, Finding& finding, size_t nth) {
  for (size_t i = 0; i < finding.values.size(); ++i) {
    if (finding.values[i].name != name || nth-- > 0) continue;
    finding.value_reasons.push_back({i, std::move(reasons)});
    return;
  }
}

}  // namespace llmprof::analysis
