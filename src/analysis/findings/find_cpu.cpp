#include <array>

#include "analysis/findings/finders.h"
#include "analysis/findings/make_finding.h"

namespace llmprof::analysis {
namespace {

using profile::FindingKind;

constexpr std::array kOutside = {BudgetPart::idle_launch,       BudgetPart::idle_synchronization,
                                 BudgetPart::idle_host,         BudgetPart::idle_queued,
                                 BudgetPart::idle_before_first, BudgetPart::idle_after_last};

struct KindOfClass {
  KernelClass of;
  FindingKind kind;
};

constexpr KindOfClass kKinds[] = {
    {KernelClass::gemm, FindingKind::gemm_above_floor},
    {KernelClass::gemv, FindingKind::gemv_above_floor},
    {KernelClass::attention, FindingKind::attention_above_floor},
    {KernelClass::norm, FindingKind::fusible_norm},
    {KernelClass::rope, FindingKind::fusible_rope},
    {KernelClass::elementwise, FindingKind::fusible_elementwise},
    {KernelClass::copy_cast, FindingKind::copies_and_casts},
    {KernelClass::sampling, FindingKind::token_selection},
};

void add_class(const StageFacts& facts, const KindOfClass& kind, std::vector<Finding>& findings) {
  const double time = facts.recoverable_of(kind.of);
  const auto& kernels = facts.by_class[static_cast<size_t>(kind.of)];
  if (time <= 0 || kernels.empty()) return;
  profile::FindingValues values;
  if (is_product(kind.of)) values.add_text("bound_by", facts.bound_by());
  values.add_all(longest_kernels(facts, kernels));
  findings.push_back(make_finding(facts, kind.kind, time, std::move(values)));
}

void add_outside(const StageFacts& facts, std::vector<Finding>& findings) {
  double time = 0;
  uint64_t gaps = 0;
  for (const BudgetPart part : kOutside) {
    time += facts.time(part);
    gaps += facts.budget->gaps[static_cast<size_t>(part)];
  }
  if (time <= 0) return;
  profile::FindingValues values;
  values.add_number("gaps_per_instance", static_cast<double>(gaps) / facts.instances());
  if (!facts.gaps.empty()) {
    const IdleGap& longest = *facts.gaps.front();
    values.add("longest_gap", profile::to_milliseconds(longest.length())).add_text("host", "");
  }
  Finding finding =
      make_finding(facts, FindingKind::time_outside_operators, time, std::move(values));
  if (!facts.gaps.empty()) explain_value("host", {facts.gaps.front()->host}, finding);
  findings.push_back(std::move(finding));
}

}  // namespace

void find_cpu_time(const StageFacts& facts, std::vector<Finding>& findings) {
  for (const KindOfClass& kind : kKinds) add_class(facts, kind, findings);
  add_outside(facts, findings);
}

}  // namespace llmprof::analysis
