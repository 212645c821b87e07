#include "analysis/budget/budget.h"

namespace llmprof {
namespace {

// In the order of BudgetPart, behind the classes.
constexpr std::array<std::string_view, kBudgetParts - kClassParts> kOtherNames = {
    "hidden CUDA graphs",
    "memory copies and fills",
    "idle: launch-bound",
    "idle: synchronisation",
    "idle: host between launches",
    "idle: between queued kernels",
    "idle: before the first GPU work",
    "idle: after the last GPU work",
    "unattributed",
};

}  // namespace

std::string_view budget_part_name(size_t part) {
  if (part == static_cast<size_t>(KernelClass::communication)) return "exposed communication";
  if (part < kClassParts) return to_string(static_cast<KernelClass>(part));
  return part < kBudgetParts ? kOtherNames[part - kClassParts] : std::string_view();
}

bool is_idle(size_t part) {
  return part >= static_cast<size_t>(BudgetPart::idle_launch) &&
         part <= static_cast<size_t>(BudgetPart::idle_after_last);
}

}  // namespace llmprof
