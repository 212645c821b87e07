#include "analysis/budget/budget.h"

namespace llmprof::analysis {

BudgetPart budget_part(size_t part, trace::DeviceKind device) {
  const auto found = static_cast<BudgetPart>(part);
  if (device != trace::DeviceKind::cpu || !is_idle(part)) return found;
  if (found == BudgetPart::idle_before_first) return BudgetPart::before_first_operator;
  if (found == BudgetPart::idle_after_last) return BudgetPart::after_last_operator;
  return BudgetPart::between_operators;
}

bool is_idle(size_t part) {
  return part >= static_cast<size_t>(BudgetPart::idle_launch) &&
         part <= static_cast<size_t>(BudgetPart::idle_after_last);
}

}  // namespace llmprof::analysis
