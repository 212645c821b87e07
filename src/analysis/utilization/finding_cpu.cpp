#include <fmt/format.h>

#include <array>

#include "analysis/utilization/finding_kinds.h"
#include "analysis/utilization/finding_words.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kNamed = 3;

constexpr std::array kOutside = {BudgetPart::idle_launch,       BudgetPart::idle_synchronisation,
                                 BudgetPart::idle_host,         BudgetPart::idle_queued,
                                 BudgetPart::idle_before_first, BudgetPart::idle_after_last};

struct Rule {
  KernelClass of;
  std::string_view title;
  std::string_view advice;
};

std::string_view products_advice(const StageFacts& facts) {
  return facts.memory_bound
             ? "The weights are read too slowly: read each row once in long streams on all cores "
               "(threads bound to cores, memory local to them, huge pages). Below the floor lead "
               "only fewer bytes (bf16 or int8 weights) or more tokens a pass (batch)."
             : "Use a blocked product that fits the caches and the widest vector unit of this CPU "
               "(its vendor's BLAS), on all cores.";
}

void add_class(const StageFacts& facts, const Rule& rule, std::vector<Finding>& findings) {
  const double time = facts.recoverable_of(rule.of);
  const auto& kernels = facts.by_class[static_cast<size_t>(rule.of)];
  if (time <= 0 || kernels.empty()) return;
  findings.push_back(
      make_finding(facts, time, std::string(rule.title),
                   fmt::format("above the floor {}; the longest: {}", share_words(facts, time),
                               longest_words(facts, kernels, kNamed)),
                   std::string(rule.advice)));
}

void add_outside(const StageFacts& facts, std::vector<Finding>& findings) {
  double time = 0;
  uint64_t gaps = 0;
  for (const BudgetPart part : kOutside) {
    time += facts.time(part);
    gaps += facts.budget->gaps[static_cast<size_t>(part)];
  }
  if (time <= 0) return;
  std::string evidence = fmt::format(
      "{}, in {} {}", share_words(facts, time),
      counted_words(static_cast<double>(gaps) / facts.instances(), "gap"), facts.a_unit());
  if (!facts.gaps.empty()) {
    const IdleGap& longest = *facts.gaps.front();
    evidence += fmt::format("; the longest {}: {}",
                            duration_words(static_cast<double>(longest.length())), longest.host);
  }
  findings.push_back(make_finding(
      facts, time, "Time outside of recorded operators", std::move(evidence),
      "Record what runs there as operators to see it; then take it out of the loop: allocation, "
      "starting threads, copies, tokenisation."));
}

}  // namespace

void find_cpu_time(const StageFacts& facts, std::vector<Finding>& findings) {
  const std::string_view products = products_advice(facts);
  for (const Rule& rule : {
           Rule{KernelClass::gemm, "Matrix products above their floor", products},
           Rule{KernelClass::gemv, "Matrix-vector products above their floor", products},
           Rule{KernelClass::attention, "Attention above its floor",
                "Read keys and values once in the order they lie in memory, split the heads over "
                "the cores, and keep scores in the cache."},
           Rule{KernelClass::norm, "Normalisation that can be fused",
                "Do it in the loop that reads the same row for the next product."},
           Rule{KernelClass::rope, "Position embedding that can be fused",
                "Rotate where keys and queries are written."},
           Rule{KernelClass::elementwise, "Element-wise operators that can be fused",
                "Do them where the product before them writes its result."},
           Rule{KernelClass::copy_cast, "Copies and casts",
                "Keep one data type and one layout from end to end."},
           Rule{KernelClass::sampling, "Token selection",
                "Select on the last position's logits only, on all cores."},
       }) {
    add_class(facts, rule, findings);
  }
  add_outside(facts, findings);
}

}  // namespace llmprof::analysis
