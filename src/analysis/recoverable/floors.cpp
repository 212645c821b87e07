#include "analysis/recoverable/floors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/units.h"

namespace llmprof::analysis {
namespace {

constexpr auto kGemm = static_cast<size_t>(KernelClass::gemm);
constexpr auto kGemv = static_cast<size_t>(KernelClass::gemv);

bool is_attention(const llm::CostPart& part) { return part.name.starts_with("attention"); }

// Of recorded operators each class is a part; of a model all but attention is products.
bool is_product(const StageUtilization& stage, const llm::CostPart& part) {
  if (!stage.from_operators) return !is_attention(part);
  return part.name == to_string(KernelClass::gemm) || part.name == to_string(KernelClass::gemv);
}

// With the prefix and the digits that the reports' tables show: "19.69 GFLOP/s".
std::string scaled(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};
  constexpr double kStep = 1000;
  size_t prefix = 0;
  while (value >= kStep && prefix + 1 < kPrefixes.size()) {
    value /= kStep;
    ++prefix;
  }
  return fmt::format("{:.2f} {}{}", value, kPrefixes.at(prefix), unit);
}

// The longer of FLOPs and bytes at the GPU's peaks.
struct Least {
  double flops = 0;
  double bytes = 0;

  [[nodiscard]] Floor at_peak(const StageUtilization& stage, std::string_view bytes_are) const {
    const double compute = flops / stage.peak_flops * kNanosecondsPerSecond;
    const double memory = bytes / stage.peak_bandwidth * kNanosecondsPerSecond;
    if (compute >= memory) {
      return {compute, fmt::format("{} at {} ({})", scaled(flops, "FLOP"),
                                   scaled(stage.peak_flops, "FLOP/s"), stage.peak_name)};
    }
    return {memory, fmt::format("{} of {} at {}", scaled(bytes, "B"), bytes_are,
                                scaled(stage.peak_bandwidth, "B/s"))};
  }
};

std::string_view class_rule(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::communication:
      return "0, as a lower bound: it can overlap with computation";
    case KernelClass::memory:
      return "0, as a lower bound: a fill or copy inside a step can be avoided or overlapped";
    case KernelClass::sampling:
      return "0, as a lower bound: small compared with the output head before it";
    case KernelClass::moe_routing:
      return "0, as a lower bound: it can be fused into the experts' GEMMs";
    default:
      return "0, as a lower bound: it can be fused into the neighboring GEMMs";
  }
}

std::string_view other_rule(BudgetPart part) {
  switch (part) {
    case BudgetPart::memory_operations:
      return "0, as a lower bound: copies and fills can overlap with kernels or be avoided";
    case BudgetPart::idle_queued:
      return "0, as a lower bound: fewer kernels leave fewer gaps between them";
    default:
      return "0: an idle GPU does no useful work";
  }
}

}  // namespace

StageFloors::StageFloors(const StageUtilization* stage,
                         const std::array<double, kBudgetParts>& mean, std::string why_no_model,
                         trace::DeviceKind device)
    : stage_(stage), mean_(mean), why_no_model_(std::move(why_no_model)), device_(device) {}

Floor StageFloors::of(size_t part) const {
  if (part == kGemm || part == kGemv) return of_products(part);
  if (part == static_cast<size_t>(KernelClass::attention)) return of_attention();
  if (part == static_cast<size_t>(KernelClass::other)) {
    return as_it_is(part, "its own time: what these kernels do is not known");
  }
  if (part < kClassParts) {
    return {0, std::string(class_rule(static_cast<KernelClass>(part)))};
  }
  const auto known = static_cast<BudgetPart>(part);
  if (known == BudgetPart::hidden_graphs) {
    return as_it_is(part, "its own time: the capture does not show the graphs' kernels");
  }
  if (known == BudgetPart::unattributed) {
    return as_it_is(part, "its own time: the capture does not show its cause");
  }
  if (device_ == trace::DeviceKind::cpu && is_idle(part)) {
    return {0, "0: no operator of the model was recorded in that time"};
  }
  return {0, std::string(other_rule(known))};
}

Floor StageFloors::scaled_to_traced(Floor floor) const {
  const double share = stage_->traced_share.value_or(1);
  if (share == 1) return floor;
  floor.time *= share;
  floor.rule += fmt::format(", of which {:.1f} % was traced", share * 100);
  return floor;
}

Floor StageFloors::as_it_is(size_t part, std::string why) const {
  return {mean_[part], std::move(why)};
}

// One floor for all products, shared out by their time.
Floor StageFloors::of_products(size_t part) const {
  if (stage_ == nullptr) return as_it_is(part, "its own time; no floor: " + why_no_model_);
  Least least;
  for (const llm::CostPart& line : stage_->cost.parts) {
    if (!is_product(*stage_, line)) continue;
    least.flops += line.flops;
    least.bytes += line.weight_bytes;
  }
  Floor floor = least.at_peak(
      *stage_, stage_->from_operators ? "recorded bytes" : "weights, read once per pass,");
  const double products = mean_[kGemm] + mean_[kGemv];
  if (products > 0) floor.time *= mean_[part] / products;
  if (mean_[kGemm] > 0 && mean_[kGemv] > 0)
    floor.rule += ", divided by time among all matrix products";
  return scaled_to_traced(std::move(floor));
}

Floor StageFloors::of_attention() const {
  constexpr auto kAttention = static_cast<size_t>(KernelClass::attention);
  if (stage_ == nullptr) return as_it_is(kAttention, "its own time; no floor: " + why_no_model_);
  Least least;
  for (const llm::CostPart& line : stage_->cost.parts) {
    if (!is_attention(line)) continue;
    least.flops += line.flops;
    least.bytes += line.kv_bytes;
  }
  return scaled_to_traced(
      least.at_peak(*stage_, stage_->from_operators ? "recorded bytes" : "KV cache"));
}

}  // namespace llmprof::analysis
