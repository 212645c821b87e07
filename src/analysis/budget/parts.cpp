#include "analysis/budget/budget.h"

namespace llmprof::analysis {
namespace {

// In the order of BudgetPart, after the classes.
constexpr std::array<std::string_view, kBudgetParts - kClassParts> kOtherNames = {
    "hidden CUDA graphs",
    "memory copies and fills",
    "idle: launch-bound",
    "idle: synchronisation",
    "idle: host between launches",
    "idle: between queued kernels",
    "idle: before the first GPU work",
    "idle: after the last GPU work",
    "not traced",
    "unattributed",
};

// A CPU is not idle outside of operators, and nothing is launched.
std::string_view cpu_name(BudgetPart part) {
  if (part == BudgetPart::idle_before_first) return "before the first operator";
  if (part == BudgetPart::idle_after_last) return "after the last operator";
  return "between operators";
}

}  // namespace

std::string_view budget_part_name(size_t part, trace::DeviceKind device) {
  if (device == trace::DeviceKind::cpu && is_idle(part))
    return cpu_name(static_cast<BudgetPart>(part));
  if (part == static_cast<size_t>(KernelClass::communication)) return "exposed communication";
  if (part < kClassParts) return to_string(static_cast<KernelClass>(part));
  return part < kBudgetParts ? kOtherNames[part - kClassParts] : std::string_view();
}

bool is_idle(size_t part) {
  return part >= static_cast<size_t>(BudgetPart::idle_launch) &&
         part <= static_cast<size_t>(BudgetPart::idle_after_last);
}

}  // namespace llmprof::analysis
