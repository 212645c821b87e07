#include "analysis/savings/savings.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "base/units.h"
#include "profile/reasons.h"

namespace llmprof::analysis {
namespace {

// The least time that one part of a stage could take, with its rule.
struct Floor {
  double time = 0;  // ns
  profile::Reasons rule;
};

constexpr auto kGemm = static_cast<size_t>(KernelClass::gemm);
constexpr auto kGemv = static_cast<size_t>(KernelClass::gemv);
constexpr auto kAttentionPart = static_cast<size_t>(KernelClass::attention);

// The longer of FLOPs and bytes at the GPU's peaks, for all steps; the rule has the traced share.
struct Least {
  double flops = 0;
  double bytes = 0;
  bool divided = false;  // among several classes, by time

  [[nodiscard]] Floor at_peak(const StageUtilization& stage, std::string_view bytes_are) const {
    const double compute = flops / stage.peak_flops * kNanosecondsPerSecond;
    const double memory = bytes / stage.peak_bandwidth * kNanosecondsPerSecond;
    const double traced = stage.traced_share.value_or(1);
    FindingValues values;
    if (compute >= memory) {
      values.add("flops", profile::Flops{flops})
          .add("peak_flops", profile::FlopsPerSecond{stage.peak_flops})
          .add("peak", stage.peak_name);
    } else {
      values.add("bytes", profile::Bytes{bytes})
          .add("peak_bandwidth", profile::BytesPerSecond{stage.peak_bandwidth})
          .add("bytes_are", stage.from_operators ? "recorded" : bytes_are);
    }
    if (divided) values.add("divided_by_time", true);
    if (traced != 1) values.add("traced_share", profile::Share{traced});
    const ReasonKind kind =
        compute >= memory ? ReasonKind::flops_at_peak : ReasonKind::bytes_at_peak;
    return {std::max(compute, memory), {make_reason(kind, values)}};
  }
};

// Why a part's floor is 0, unless it is a class that products can absorb, or idle time.
constexpr std::pair<BudgetPart, ReasonKind> kZeroRules[] = {
    {BudgetPart::exposed_communication, ReasonKind::zero_overlaps_computation},
    {part_of_class(KernelClass::memory), ReasonKind::zero_copy_avoidable},
    {part_of_class(KernelClass::sampling), ReasonKind::zero_small_beside_output_head},
    {part_of_class(KernelClass::moe_routing), ReasonKind::zero_fusible_into_experts},
    {BudgetPart::memory_operations, ReasonKind::zero_copies_overlap_kernels},
    {BudgetPart::idle_queued, ReasonKind::zero_fewer_kernels},
};
// Parts whose floor is their own time, because nothing is known about them.
constexpr std::pair<BudgetPart, ReasonKind> kOwnTime[] = {
    {part_of_class(KernelClass::other), ReasonKind::own_time_unknown_kernels},
    {BudgetPart::hidden_graphs, ReasonKind::own_time_hidden_graphs},
    {BudgetPart::unattributed, ReasonKind::own_time_unknown_cause},
};

std::optional<ReasonKind> rule_of(size_t part,
                                  std::span<const std::pair<BudgetPart, ReasonKind>> rules) {
  for (const auto& [of, rule] : rules) {
    if (of == static_cast<BudgetPart>(part)) return rule;
  }
  return std::nullopt;
}

ReasonKind zero_rule(size_t part, trace::DeviceKind device) {
  if (device == trace::DeviceKind::cpu && is_idle(part)) return ReasonKind::zero_outside_operators;
  return rule_of(part, kZeroRules)
      .value_or(part < kClassParts ? ReasonKind::zero_fusible_into_products
                                   : ReasonKind::zero_idle_gpu);
}

// Floors of one stage's parts, from the model's cost if it is known. If only some steps of an
// instance were traced, both parts and floors cover only these.
class StageFloors {
 public:
  // `mean` is the stage's budget, ns per instance, by part; `stage` is null if nothing is known.
  StageFloors(const StageUtilization* stage, const std::array<double, kBudgetParts>& mean,
              profile::Reasons why_no_model, trace::DeviceKind device)
      : stage_(stage), mean_(mean), why_no_model_(std::move(why_no_model)), device_(device) {}

  [[nodiscard]] Floor of(size_t part) const {
    if (part == kGemm || part == kGemv) return of_products(part);
    if (part == kAttentionPart) return of_attention();
    if (const auto rule = rule_of(part, kOwnTime)) return {mean_[part], {make_reason(*rule)}};
    return {0, {make_reason(zero_rule(part, device_))}};
  }

 private:
  [[nodiscard]] Floor without_floor(size_t part) const {
    Floor floor{mean_[part], {make_reason(ReasonKind::own_time_without_floor)}};
    floor.rule.insert(floor.rule.end(), why_no_model_.begin(), why_no_model_.end());
    return floor;
  }

  // One floor for all products, shared in proportion to their time.
  [[nodiscard]] Floor of_products(size_t part) const {
    if (stage_ == nullptr) return without_floor(part);
    Least least;
    for (const llm::CostLine& line : stage_->cost.parts) {
      if (line.kind != llm::CostKind::products) continue;
      least.flops += line.flops;
      least.bytes += line.weight_bytes;
    }
    least.divided = mean_[kGemm] > 0 && mean_[kGemv] > 0;
    Floor floor = least.at_peak(*stage_, "weights");
    const double products = mean_[kGemm] + mean_[kGemv];
    if (products > 0) floor.time *= mean_[part] / products;
    floor.time *= stage_->traced_share.value_or(1);
    return floor;
  }

  [[nodiscard]] Floor of_attention() const {
    if (stage_ == nullptr) return without_floor(kAttentionPart);
    Least least;
    for (const llm::CostLine& line : stage_->cost.parts) {
      if (line.kind != llm::CostKind::attention) continue;
      least.flops += line.flops;
      least.bytes += line.kv_bytes;
    }
    Floor floor = least.at_peak(*stage_, "kv_cache");
    floor.time *= stage_->traced_share.value_or(1);
    return floor;
  }

  const StageUtilization* stage_;
  const std::array<double, kBudgetParts>& mean_;
  profile::Reasons why_no_model_;
  trace::DeviceKind device_;
};

// Reasons the user can act on; the stage's own reason is more precise.
profile::Reasons why_no_floor(const UseOfPeaks& utilization, const StageUtilization* stage) {
  if (stage != nullptr && !stage->why_not.empty()) return stage->why_not;
  if (!utilization.why_not.empty()) return utilization.why_not;
  return {make_reason(profile::ReasonKind::no_model_given)};
}

bool has_floor(const StageUtilization* stage) {
  return stage != nullptr && stage->floor && stage->traced_share && stage->peak_flops > 0 &&
         stage->peak_bandwidth > 0;
}

// Sums of what all steps of a stage's instances generate, without warm-ups: tokens of all
// sequences, and decode steps.
void count_generated(const Stages& stages, uint64_t batch, StageSavings& into) {
  for (const Step& step : stages.steps) {
    if (step.kind == StepKind::prefill || step.kind == StepKind::forward) continue;
    if (!step.instance.valid()) continue;
    const StageInstance& instance = stages.instances[step.instance.index()];
    if (instance.stage != into.stage || instance.warmup) continue;
    into.tokens += static_cast<double>(step.batch.value_or(batch));
    ++into.decode_steps;
  }
}

StageSavings savings_of(const Stages& stages, const StageBudget& budget,
                        const UseOfPeaks& utilization) {
  StageSavings result;
  result.stage = budget.stage;
  if (budget.instances == 0) {
    result.bound_reason = {make_reason(profile::ReasonKind::all_warmup)};
    return result;
  }
  const auto count = static_cast<double>(budget.instances);
  std::array<double, kBudgetParts> mean{};
  for (size_t part = 0; part < kBudgetParts; ++part) {
    if (part == static_cast<size_t>(BudgetPart::not_traced)) continue;
    mean[part] = static_cast<double>(budget.total[part]) / count;
    result.wall += mean[part];
  }
  count_generated(stages, utilization.workload.batch.value_or(1), result);
  result.tokens /= count;
  result.decode_steps /= count;

  const StageUtilization* known = utilization.of(budget.stage);
  const StageFloors floors(has_floor(known) ? known : nullptr, mean,
                           why_no_floor(utilization, known), utilization.device);
  for (size_t part = 0; part < kBudgetParts; ++part) {
    if (mean[part] <= 0) continue;
    Floor floor = floors.of(part);
    result.parts.push_back({part, mean[part], floor.time, std::move(floor.rule), kAnySaving});
  }
  if (known != nullptr && known->floor && known->traced_share) {
    result.bound = std::min(static_cast<double>(*known->floor) * *known->traced_share, result.wall);
  } else {
    result.bound_reason = why_no_floor(utilization, known);
  }
  std::ranges::stable_sort(result.parts, std::greater(), &SavingsPart::potential);
  return result;
}

}  // namespace

std::vector<StageSavings> stage_savings(const Stages& stages, const Budgets& budgets,
                                        const UseOfPeaks& utilization) {
  std::vector<StageSavings> result;
  result.reserve(budgets.stages.size());
  for (const StageBudget& budget : budgets.stages) {
    result.push_back(savings_of(stages, budget, utilization));
  }
  return result;
}

void limit_to_unprofiled(const trace::Trace& trace, const Stages& stages,
                         std::vector<StageSavings>& savings) {
  if (!trace.workload) return;
  for (StageSavings& stage : savings) {
    for (const auto& timing : trace.workload->stages) {
      const double unprofiled = timing.mean_ms * kNanosecondsPerMillisecond;
      const bool same = timing.name == stages.stages[stage.stage].name;
      if (!same || unprofiled <= 0 || unprofiled >= stage.wall) continue;
      const double bound = stage.bound.value_or(0);
      stage.most = unprofiled - (bound < unprofiled ? bound : 0);
      for (SavingsPart& part : stage.parts) part.most = stage.most;
    }
  }
}

}  // namespace llmprof::analysis
