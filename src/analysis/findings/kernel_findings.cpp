#include <algorithm>
#include <optional>

#include "analysis/findings/stage_facts.h"
#include "analysis/statistics/statistics.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kNamedKernels = 3;  // the longest kernels that a finding is about
constexpr size_t kNamedCopies = 3;
// With fewer attention kernels per pass, once per layer and once per pass look the same.
constexpr double kFewestLayers = 4;

Calls sum_of(KernelsInStage kernels) {
  Calls sum;
  for (const KernelInStage& kernel : kernels) sum += kernel;
  return sum;
}

// kernel_time and kernel_calls of the first kernels, per instance.
FindingValues longest_in_stage(const StageFacts& facts, KernelsInStage kernels) {
  FindingValues values;
  for (const KernelInStage& kernel : kernels.first(std::min(kNamedKernels, kernels.size()))) {
    const std::string& name = facts.description(kernel).short_name;
    values.add("kernel_time", to_milliseconds(facts.per_instance(kernel.total)), name);
    values.add("kernel_calls", facts.per_instance(kernel.calls), name);
  }
  return values;
}

// kernels_per_pass, pass and mean_kernel, then the longest kernels.
FindingValues count_and_name(const StageFacts& facts, KernelsInStage kernels) {
  const Calls all = sum_of(kernels);
  FindingValues values;
  values.add("kernels_per_pass", static_cast<double>(all.calls) / facts.passes())
      .add("pass", facts.pass())
      .add("mean_kernel", all.mean())
      .add_all(longest_in_stage(facts, kernels));
  return values;
}

constexpr KernelClass kProducts[] = {KernelClass::gemm, KernelClass::gemv};
constexpr KernelClass kFusible[] = {
    KernelClass::norm,    KernelClass::rope,   KernelClass::elementwise, KernelClass::reduction,
    KernelClass::softmax, KernelClass::gather, KernelClass::quantize};

bool any_has(const StageFacts& facts, KernelsInStage kernels, KernelTrait trait) {
  return std::ranges::any_of(
      kernels, [&](const KernelInStage& kernel) { return facts.description(kernel).has(trait); });
}

FindingValues bound_by(const StageFacts& facts) {
  return FindingValues().add("bound_by", facts.memory_bound ? "memory" : "compute");
}

// `quantized`: weights of less than 16 bits, judged by the longest kernel of each product class.
FindingValues product_values(const StageFacts& facts) {
  const bool quantized = std::ranges::any_of(kProducts, [&](KernelClass kernel_class) {
    const KernelsInStage kernels = facts.of(kernel_class);
    return !kernels.empty() && any_has(facts, kernels.first(1), KernelTrait::quantized);
  });
  return bound_by(facts).add("quantized", quantized);
}

FindingValues attention_values(const StageFacts& facts) {
  FindingValues values;
  const KernelsInStage kernels = facts.of(KernelClass::attention);
  values.add("decodes", facts.decodes())
      .add("splits_cache", any_has(facts, kernels, KernelTrait::split_cache));
  if (kernels.empty()) return values;
  const std::string& library = facts.description(kernels.front()).library;
  if (!library.empty()) values.add("library", library);
  return values;
}

FindingValues copy_values(const StageFacts& facts) {
  return FindingValues().add(
      "concatenates", any_has(facts, facts.of(KernelClass::copy_cast), KernelTrait::concatenation));
}

// A finding about how far kernels of some classes are above their floor.
struct ClassRule {
  FindingKind kind;
  std::span<const KernelClass> classes;
  FindingValues (*more)(const StageFacts& facts) = nullptr;
  bool has_floor = false;  // reported, from the model's cost; otherwise the floor is 0
};

using Only = const KernelClass[1];
constexpr Only kOnlyGemm = {KernelClass::gemm};
constexpr Only kOnlyGemv = {KernelClass::gemv};
constexpr Only kOnlyAttention = {KernelClass::attention};
constexpr Only kOnlyNorm = {KernelClass::norm};
constexpr Only kOnlyRope = {KernelClass::rope};
constexpr Only kOnlyElementwise = {KernelClass::elementwise};
constexpr Only kOnlyCopies = {KernelClass::copy_cast};
constexpr Only kOnlySampling = {KernelClass::sampling};

constexpr ClassRule kGpuRules[] = {
    {FindingKind::gemm_above_floor, kProducts, product_values, true},
    {FindingKind::attention_above_floor, kOnlyAttention, attention_values, true},
    {FindingKind::small_kernels, kFusible, program_values},
    {FindingKind::copies_and_casts, kOnlyCopies, copy_values},
};
constexpr ClassRule kCpuRules[] = {
    {FindingKind::gemm_above_floor, kOnlyGemm, bound_by},
    {FindingKind::gemv_above_floor, kOnlyGemv, bound_by},
    {FindingKind::attention_above_floor, kOnlyAttention},
    {FindingKind::fusible_norm, kOnlyNorm},
    {FindingKind::fusible_rope, kOnlyRope},
    {FindingKind::fusible_elementwise, kOnlyElementwise},
    {FindingKind::copies_and_casts, kOnlyCopies},
    {FindingKind::token_selection, kOnlySampling},
};

// Adds time, floor and floor_rule; returns the reasons for the rule's text.
profile::Reasons add_floor(const StageFacts& facts, std::span<const KernelClass> classes,
                           FindingValues& values) {
  profile::Reasons rule;
  double time = 0;
  double floor = 0;
  for (const KernelClass kernel_class : classes) {
    const SavingsPart* part = facts.savings_of(kernel_class);
    if (part == nullptr) continue;
    time += part->time;
    floor += part->floor;
    if (rule.empty()) rule = part->floor_rule;
  }
  values.add("time", to_milliseconds(time))
      .add("floor", to_milliseconds(floor))
      .add("floor_rule", "");
  if (floor > 0) values.add("time_over_floor", time / floor);
  return rule;
}

void add_class(const StageFacts& facts, const ClassRule& rule, std::vector<Finding>& findings) {
  double saving = 0;
  std::vector<KernelInStage> kernels;
  for (const KernelClass kernel_class : rule.classes) {
    saving += facts.saving_of(kernel_class);
    const KernelsInStage more = facts.of(kernel_class);
    kernels.insert(kernels.end(), more.begin(), more.end());
  }
  if (saving <= 0 || kernels.empty()) return;
  std::ranges::stable_sort(kernels, std::greater(), &KernelInStage::total);
  const FindingValues more = rule.more == nullptr ? FindingValues() : rule.more(facts);
  FindingValues values;
  if (facts.on_cpu()) {
    values.add_all(more).add_all(longest_in_stage(facts, kernels));
    add_finding(facts, rule.kind, saving, std::move(values), findings);
    return;
  }
  profile::Reasons of_floor;
  if (rule.has_floor) of_floor = add_floor(facts, rule.classes, values);
  values.add_all(count_and_name(facts, kernels)).add_all(more);
  Finding& finding = add_finding(facts, rule.kind, saving, std::move(values), findings);
  if (rule.has_floor) explain_value("floor_rule", std::move(of_floor), finding);
}

// The kernels that choose something: tokens once per pass, experts in every layer. Their number
// shows which; their names do not.
void add_selection(const StageFacts& facts, std::vector<Finding>& findings) {
  const KernelsInStage routing = facts.of(KernelClass::moe_routing);
  const KernelsInStage sampling = facts.of(KernelClass::sampling);
  const double layers =
      static_cast<double>(sum_of(facts.of(KernelClass::attention)).calls) / facts.passes();
  std::vector<KernelInStage> tokens;
  std::vector<KernelInStage> experts(routing.begin(), routing.end());
  for (const KernelInStage& kernel : sampling) {
    const double each_pass = static_cast<double>(kernel.calls) / facts.passes();
    const bool in_layers = layers >= kFewestLayers && each_pass >= layers / 2;
    (in_layers ? experts : tokens).push_back(kernel);
  }
  std::ranges::stable_sort(experts, std::greater(), &KernelInStage::total);
  const double of_sampling = facts.saving_of(KernelClass::sampling);
  const auto whole = static_cast<double>(sum_of(sampling).total);
  const double tokens_time =
      whole > 0 ? of_sampling * static_cast<double>(sum_of(tokens).total) / whole : 0;
  const double experts_time = facts.saving_of(KernelClass::moe_routing) + of_sampling - tokens_time;
  const auto add = [&](FindingKind kind, const std::vector<KernelInStage>& kernels, double time) {
    if (time <= 0 || kernels.empty()) return;
    add_finding(facts, kind, time, count_and_name(facts, kernels), findings);
  };
  add(FindingKind::token_selection, tokens, tokens_time);
  add(FindingKind::expert_routing, experts, experts_time);
}

struct LatencyBound {
  const KernelRow* row = nullptr;
  double roof = 0;  // the higher of both roofs, 0 to 1
  uint64_t calls = 0;
  uint64_t measured_calls = 0;  // launches like a measured one
  Nanoseconds measured_total = 0;

  [[nodiscard]] double above(const StageFacts& facts) const {  // ns per instance
    return facts.per_instance(measured_total) * std::max(0.0, 1 - roof);
  }
};

// From ncu's raw and details pages.
std::optional<double> occupancy(const KernelRow& row) {
  for (const char* name :
       {"sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy"}) {
    const auto found = row.metrics.find(name);
    if (found != row.metrics.end()) return found->second.mean;
  }
  return std::nullopt;
}

// One entry per latency-bound kernel name in the stage; launches are not yet counted.
std::vector<LatencyBound> latency_bound(const StageFacts& facts) {
  const std::vector<KernelRow>& rows = facts.evidence->ranking.rows;
  std::vector<bool> in_stage(rows.size(), false);
  for (const auto& of_class : facts.by_class) {
    for (const KernelInStage& kernel : of_class) in_stage[kernel.row] = true;
  }
  std::vector<LatencyBound> found;
  for (const KernelRoofline& kernel : facts.evidence->roofline.kernels) {
    if (kernel.bound != Bound::latency || !in_stage[kernel.row]) continue;
    const auto roof = std::max(kernel.compute_share_of_peak, kernel.memory_share_of_peak);
    if (!roof) continue;
    LatencyBound& bound = found.emplace_back();
    bound.row = &rows[kernel.row];
    bound.roof = roof->value;
  }
  return found;
}

void count_launches(const StageFacts& facts, std::vector<LatencyBound>& found) {
  const trace::Trace& trace = facts.evidence->trace;
  const Stages& stages = facts.evidence->stages;
  std::vector<LatencyBound*> by_name(trace.strings.size(), nullptr);
  for (LatencyBound& bound : found) by_name[bound.row->name.index()] = &bound;
  const trace::KernelTable& kernels = trace.kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    LatencyBound* bound = by_name[kernels.name[i].index()];
    const InstanceId owner = stages.owners.kernel_instance[i];
    if (bound == nullptr || !owner.valid()) continue;
    const StageInstance& instance = stages.instances[owner.index()];
    if (instance.warmup || instance.stage != facts.index) continue;
    ++bound->calls;
    if (!facts.evidence->ranking.measured_kernels[i]) continue;
    ++bound->measured_calls;
    bound->measured_total += kernels.end[i] - kernels.start[i];
  }
}

}  // namespace

void find_kernel_time(const StageFacts& facts, std::vector<Finding>& findings) {
  const auto rules = facts.on_cpu() ? std::span<const ClassRule>(kCpuRules) : kGpuRules;
  for (const ClassRule& rule : rules) add_class(facts, rule, findings);
  if (!facts.on_cpu() && facts.stage->name != profile::kForwardStage) {
    add_selection(facts, findings);
  }
}

void find_transfers(const StageFacts& facts, std::vector<Finding>& findings) {
  const double exposed = facts.saving_of(KernelClass::communication);
  const KernelsInStage kernels = facts.of(KernelClass::communication);
  if (exposed > 0 && !kernels.empty()) {
    const double time = facts.per_instance(sum_of(kernels).total);
    FindingValues values;
    values.add("communication_time", to_milliseconds(time)).add_all(count_and_name(facts, kernels));
    add_finding(facts, FindingKind::exposed_communication, exposed, std::move(values), findings);
  }
  const double time = facts.time(BudgetPart::memory_operations) + facts.time(KernelClass::memory);
  if (time <= 0 || facts.copies.empty()) return;
  FindingValues values;
  for (size_t i = 0; i < std::min(kNamedCopies, facts.copies.size()); ++i) {
    const CopiesInStage& copies = facts.copies[i];
    values.add("copies_per_instance", facts.per_instance(copies.calls), copies.what)
        .add("bytes_per_instance", profile::Bytes{facts.per_instance(copies.bytes)}, copies.what);
  }
  add_finding(facts, FindingKind::exposed_copies, time, std::move(values), findings);
}

void find_latency_bound(const StageFacts& facts, std::vector<Finding>& findings) {
  std::vector<LatencyBound> kernels = latency_bound(facts);
  const FindingEvidence& evidence = *facts.evidence;
  const bool known = evidence.ranking.measured_kernels.size() == evidence.trace.kernels.size();
  if (kernels.empty() || !known) return;
  count_launches(facts, kernels);
  uint64_t calls = 0;
  for (const LatencyBound& kernel : kernels) calls += kernel.calls;
  std::erase_if(kernels, [](const LatencyBound& kernel) { return kernel.measured_calls == 0; });
  if (kernels.empty()) return;
  std::ranges::stable_sort(kernels, std::greater(),
                           [&](const LatencyBound& kernel) { return kernel.above(facts); });
  double above = 0;
  uint64_t measured = 0;
  for (const LatencyBound& kernel : kernels) {
    above += kernel.above(facts);
    measured += kernel.measured_calls;
  }
  FindingValues values;
  values.add("kernel_names", kernels.size())
      .add("launches_measured", measured)
      .add("launches", calls);
  for (size_t i = 0; i < std::min(kNamedKernels, kernels.size()); ++i) {
    const KernelRow& row = *kernels[i].row;
    const std::string& name = row.description.short_name;
    values.add("kernel_share_of_roof", profile::Share{kernels[i].roof}, name);
    if (const auto active = occupancy(row)) {
      values.add("kernel_occupancy", profile::Share{*active / kPercent}, name);
    }
  }
  add_finding(facts, FindingKind::latency_bound_kernels, above, std::move(values), findings);
}

}  // namespace llmprof::analysis
