#include "report/sections/sections.h"

namespace llmprof {

const BudgetRow* largest_part(const StageFacts& facts, bool idle) {
  for (const BudgetRow& row : facts.budget) {
    if (row.part == static_cast<size_t>(BudgetPart::not_traced)) continue;
    if (is_idle(row.part) == idle) return &row;
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
    const auto part = static_cast<BudgetPart>(row.part);
    if (part == BudgetPart::idle_launch || part == BudgetPart::idle_host ||
        part == BudgetPart::idle_synchronisation || part == BudgetPart::idle_before_first) {
      host += row.time;
    }
  }
  return facts.idle && 2 * host > *facts.idle;
}

std::string_view plain_part_name(const Reported& reported, size_t part) {
  const DeviceKind device = reported.profile.device;
  if (device == DeviceKind::cpu && is_idle(part)) {
    const auto idle = static_cast<BudgetPart>(part);
    if (idle == BudgetPart::idle_before_first) return "what comes before the first operator";
    if (idle == BudgetPart::idle_after_last) return "what comes after the last operator";
    return "what runs between operators";
  }
  if (part < kClassParts) {
    switch (static_cast<KernelClass>(part)) {
      case KernelClass::gemm:
        return "matrix products";
      case KernelClass::gemv:
        return "matrix-vector products";
      case KernelClass::norm:
        return "normalisation";
      case KernelClass::copy_cast:
        return "copies and type conversions";
      case KernelClass::moe_routing:
        return "routing tokens to experts";
      default:
        return budget_part_name(part);
    }
  }
  switch (static_cast<BudgetPart>(part)) {
    case BudgetPart::hidden_graphs:
      return "CUDA graphs whose kernels were not captured";
    case BudgetPart::idle_launch:
      return "late launches by the CPU";
    case BudgetPart::idle_synchronisation:
      return "the CPU waiting for the GPU before it launches more";
    case BudgetPart::idle_host:
      return "other work of the CPU between launches";
    case BudgetPart::idle_queued:
      return "work that was launched in time and yet did not start";
    case BudgetPart::idle_before_first:
      return "what comes before the first kernel";
    case BudgetPart::idle_after_last:
      return "what comes after the last kernel";
    case BudgetPart::not_traced:
      return "what was not traced";
    default:
      return budget_part_name(part);
  }
}

}  // namespace llmprof
