#include <algorithm>

#include "analysis/findings/finders.h"
#include "analysis/findings/make_finding.h"

namespace llmprof::analysis {
namespace {

using profile::FindingKind;
using profile::FindingValues;
using Classes = std::span<const KernelClass>;

// Attention kernels per pass below which once per layer and once per pass look the same.
constexpr double kFewestLayers = 4;

std::vector<KernelInStage> kernels_of(const StageFacts& facts, Classes classes) {
  std::vector<KernelInStage> kernels;
  for (const KernelClass kernel_class : classes) {
    const auto& more = facts.by_class[static_cast<size_t>(kernel_class)];
    kernels.insert(kernels.end(), more.begin(), more.end());
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  return kernels;
}

double time_of(const StageFacts& facts, Classes classes) {
  double time = 0;
  for (const KernelClass kernel_class : classes) time += facts.time(kernel_class);
  return time;
}

double recoverable_of(const StageFacts& facts, Classes classes) {
  double time = 0;
  for (const KernelClass kernel_class : classes) time += facts.recoverable_of(kernel_class);
  return time;
}

// Kernels whose floor is 0: all of their time is above it.
void add_small(const StageFacts& facts, FindingKind kind, std::span<const KernelInStage> kernels,
               double recoverable, FindingValues more, std::vector<Finding>& findings) {
  if (recoverable <= 0 || kernels.empty()) return;
  FindingValues values;
  values.add_all(kernel_counts(facts, kernels))
      .add_all(longest_kernels(facts, kernels))
      .add_all(std::move(more));
  findings.push_back(make_finding(facts, kind, recoverable, std::move(values)));
}

// Kernels with a floor from the model's cost.
void add_above_floor(const StageFacts& facts, FindingKind kind, Classes classes, FindingValues more,
                     std::vector<Finding>& findings) {
  const double recoverable = recoverable_of(facts, classes);
  const std::vector<KernelInStage> kernels = kernels_of(facts, classes);
  if (recoverable <= 0 || kernels.empty()) return;
  const double time = time_of(facts, classes);
  profile::Reasons rule;
  double floor = 0;
  for (const KernelClass kernel_class : classes) {
    const SavingsPart* part = facts.by_part[static_cast<size_t>(kernel_class)];
    if (part == nullptr) continue;
    floor += part->floor;
    if (rule.empty()) rule = part->floor_rule;
  }
  FindingValues values;
  values.add("time", profile::to_milliseconds(time))
      .add("floor", profile::to_milliseconds(floor))
      .add_text("floor_rule", "");
  if (floor > 0) values.add_number("time_over_floor", time / floor);
  values.add_all(kernel_counts(facts, kernels))
      .add_all(longest_kernels(facts, kernels))
      .add_all(std::move(more));
  Finding finding = make_finding(facts, kind, recoverable, std::move(values));
  explain_value("floor_rule", std::move(rule), finding);
  findings.push_back(std::move(finding));
}

constexpr KernelClass kProducts[] = {KernelClass::gemm, KernelClass::gemv};
constexpr KernelClass kAttention[] = {KernelClass::attention};
constexpr KernelClass kFusible[] = {
    KernelClass::norm,    KernelClass::rope,   KernelClass::elementwise, KernelClass::reduction,
    KernelClass::softmax, KernelClass::gather, KernelClass::quantize};
constexpr KernelClass kCopies[] = {KernelClass::copy_cast};

bool any_has(const StageFacts& facts, std::span<const KernelInStage> kernels, KernelTrait trait) {
  return std::ranges::any_of(kernels, [&](const KernelInStage& kernel) {
    return facts.ranking->rows[kernel.row].description.has(trait);
  });
}

double calls_of(std::span<const KernelInStage> kernels) {
  double calls = 0;
  for (const KernelInStage& kernel : kernels) calls += static_cast<double>(kernel.calls);
  return calls;
}

double total_of(std::span<const KernelInStage> kernels) {
  double total = 0;
  for (const KernelInStage& kernel : kernels) total += static_cast<double>(kernel.total);
  return total;
}

// The kernels that choose something: tokens once per pass, experts in every layer. Their names do
// not show which, their number does.
struct SelectionKernels {
  std::vector<KernelInStage> tokens;
  std::vector<KernelInStage> experts;  // with the kernels that only routing has
  double tokens_time = 0;              // ns per instance
  double experts_time = 0;
};

SelectionKernels selection_of(const StageFacts& facts) {
  SelectionKernels selection;
  const auto& routing = facts.by_class[static_cast<size_t>(KernelClass::moe_routing)];
  const auto& sampling = facts.by_class[static_cast<size_t>(KernelClass::sampling)];
  const double layers =
      calls_of(facts.by_class[static_cast<size_t>(KernelClass::attention)]) / facts.passes();
  selection.experts = routing;
  for (const KernelInStage& kernel : sampling) {
    const double each_pass = static_cast<double>(kernel.calls) / facts.passes();
    const bool in_layers = layers >= kFewestLayers && each_pass >= layers / 2;
    (in_layers ? selection.experts : selection.tokens).push_back(kernel);
  }
  std::stable_sort(selection.experts.begin(), selection.experts.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  const double of_sampling = facts.recoverable_of(KernelClass::sampling);
  const double whole = total_of(sampling);
  selection.tokens_time = whole > 0 ? of_sampling * total_of(selection.tokens) / whole : 0;
  selection.experts_time =
      facts.recoverable_of(KernelClass::moe_routing) + of_sampling - selection.tokens_time;
  return selection;
}

// Weights of less than 16 bits, by what the longest products are.
bool reads_quantized_weights(const StageFacts& facts) {
  return std::ranges::any_of(kProducts, [&](KernelClass kernel_class) {
    const auto& kernels = facts.by_class[static_cast<size_t>(kernel_class)];
    return !kernels.empty() && any_has(facts, std::span(kernels).first(1), KernelTrait::quantized);
  });
}

FindingValues attention_values(const StageFacts& facts) {
  FindingValues values;
  const auto& kernels = facts.by_class[static_cast<size_t>(KernelClass::attention)];
  values.add_flag("decodes", facts.decodes())
      .add_flag("splits_cache", any_has(facts, kernels, KernelTrait::split_cache));
  if (kernels.empty()) return values;
  const std::string& library = facts.ranking->rows[kernels.front().row].description.library;
  if (!library.empty()) values.add_text("library", library);
  return values;
}

}  // namespace

void find_kernel_time(const StageFacts& facts, std::vector<Finding>& findings) {
  FindingValues bound;
  bound.add_text("bound_by", facts.bound_by())
      .add_flag("quantized", reads_quantized_weights(facts));
  add_above_floor(facts, FindingKind::gemm_above_floor, kProducts, std::move(bound), findings);
  add_above_floor(facts, FindingKind::attention_above_floor, kAttention, attention_values(facts),
                  findings);
  add_small(facts, FindingKind::small_kernels, kernels_of(facts, kFusible),
            recoverable_of(facts, kFusible), program_values(facts), findings);
  FindingValues copies;
  copies.add_flag("concatenates",
                  any_has(facts, facts.by_class[static_cast<size_t>(KernelClass::copy_cast)],
                          KernelTrait::concatenation));
  add_small(facts, FindingKind::copies_and_casts, kernels_of(facts, kCopies),
            recoverable_of(facts, kCopies), std::move(copies), findings);
  if (facts.stage->name == profile::kForwardStage) return;
  const SelectionKernels selection = selection_of(facts);
  add_small(facts, FindingKind::token_selection, selection.tokens, selection.tokens_time, {},
            findings);
  add_small(facts, FindingKind::expert_routing, selection.experts, selection.experts_time, {},
            findings);
}

}  // namespace llmprof::analysis
