#include "report/sections/sections.h"

namespace llmprof::report {

const BudgetRow* largest_part(const StageFacts& facts, bool idle) {
  for (const BudgetRow& row : facts.budget) {
    if (row.part == static_cast<size_t>(analysis::BudgetPart::not_traced)) continue;
    if (analysis::is_idle(row.part) == idle) return &row;
  }
  return nullptr;
}

bool mostly_idle(const StageFacts& facts) {
  const BudgetRow* work = largest_part(facts, false);
  return facts.idle && *facts.idle > (work == nullptr ? 0 : work->time);
}

bool waits_for_host(const StageFacts& facts) {
  double host = 0;
  for (const BudgetRow& row : facts.budget) {
    const auto part = static_cast<analysis::BudgetPart>(row.part);
    if (part == analysis::BudgetPart::idle_launch || part == analysis::BudgetPart::idle_host ||
        part == analysis::BudgetPart::idle_synchronisation ||
        part == analysis::BudgetPart::idle_before_first) {
      host += row.time;
    }
  }
  return facts.idle && 2 * host > *facts.idle;
}

std::string_view plain_part_name(const Reported& reported, size_t part) {
  const trace::DeviceKind device = reported.profile.device;
  if (device == trace::DeviceKind::cpu && analysis::is_idle(part)) {
    const auto idle = static_cast<analysis::BudgetPart>(part);
    if (idle == analysis::BudgetPart::idle_before_first)
      return "what comes before the first operator";
    if (idle == analysis::BudgetPart::idle_after_last) return "what comes after the last operator";
    return "what runs between operators";
  }
  if (part < analysis::kClassParts) {
    switch (static_cast<analysis::KernelClass>(part)) {
      case analysis::KernelClass::gemm:
        return "matrix products";
      case analysis::KernelClass::gemv:
        return "matrix-vector products";
      case analysis::KernelClass::norm:
        return "normalisation";
      case analysis::KernelClass::copy_cast:
        return "copies and type conversions";
      case analysis::KernelClass::moe_routing:
        return "routing tokens to experts";
      default:
        return analysis::budget_part_name(part);
    }
  }
  switch (static_cast<analysis::BudgetPart>(part)) {
    case analysis::BudgetPart::hidden_graphs:
      return "CUDA graphs whose kernels were not captured";
    case analysis::BudgetPart::idle_launch:
      return "late launches by the CPU";
    case analysis::BudgetPart::idle_synchronisation:
      return "the CPU waiting for the GPU before it launches more";
    case analysis::BudgetPart::idle_host:
      return "other work of the CPU between launches";
    case analysis::BudgetPart::idle_queued:
      return "work that was launched in time and yet did not start";
    case analysis::BudgetPart::idle_before_first:
      return "what comes before the first kernel";
    case analysis::BudgetPart::idle_after_last:
      return "what comes after the last kernel";
    case analysis::BudgetPart::not_traced:
      return "what was not traced";
    default:
      return analysis::budget_part_name(part);
  }
}

}  // namespace llmprof::report
