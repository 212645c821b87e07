#include <fmt/format.h>

#include <algorithm>

#include "analysis/utilization/finding_kinds.h"
#include "analysis/utilization/finding_words.h"

namespace llmprof {
namespace {

constexpr size_t kNamed = 3;
constexpr double kPercent = 100;

// ncu's raw and details pages.
constexpr std::string_view kOccupancyNames[] = {"sm__warps_active.avg.pct_of_peak_sustained_active",
                                                "Achieved Occupancy"};

std::optional<double> occupancy(const KernelRow& row) {
  for (const std::string_view name : kOccupancyNames) {
    const auto found = row.metrics.find(std::string(name));
    if (found != row.metrics.end()) return found->second.mean;
  }
  return std::nullopt;
}

struct LatencyBound {
  const KernelRow* row = nullptr;
  double roof = 0;   // the higher of both, 0 to 1
  double above = 0;  // ns an instance
};

std::vector<LatencyBound> latency_bound(const StageFacts& facts, const Roofline& roofline) {
  std::vector<LatencyBound> found;
  for (const KernelRoofline& kernel : roofline.kernels) {
    if (kernel.bound != KernelRoofline::Bound::latency) continue;
    if (!kernel.compute_percent && !kernel.memory_percent) continue;
    const double roof =
        std::max(kernel.compute_percent.value_or(0), kernel.memory_percent.value_or(0)) / kPercent;
    for (const auto& of_class : facts.by_class) {
      for (const KernelInStage& in_stage : of_class) {
        if (in_stage.row != kernel.row) continue;
        const double time = static_cast<double>(in_stage.total) / facts.instances();
        found.push_back({&facts.ranking->rows[kernel.row], roof, time * std::max(0.0, 1 - roof)});
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const LatencyBound& a, const LatencyBound& b) { return a.above > b.above; });
  return found;
}

}  // namespace

void find_latency_bound(const StageFacts& facts, const Roofline& roofline,
                        std::vector<Finding>& findings) {
  const std::vector<LatencyBound> kernels = latency_bound(facts, roofline);
  if (kernels.empty()) return;
  double above = 0;
  for (const LatencyBound& kernel : kernels) above += kernel.above;
  std::string evidence = fmt::format("above the nearer roof {}; {} kernel names measured by ncu",
                                     share_words(facts, above), kernels.size());
  for (size_t i = 0; i < std::min(kNamed, kernels.size()); ++i) {
    const LatencyBound& kernel = kernels[i];
    evidence += fmt::format("; {} at {} of its nearer roof", kernel.row->description.short_name,
                            percent_words(kernel.roof));
    if (const auto active = occupancy(*kernel.row)) {
      evidence += fmt::format(", occupancy {}", percent_words(*active / kPercent));
    }
  }
  evidence += "; the same time may be part of other findings";
  findings.push_back(make_finding(
      facts, above, "Kernels that reach neither the compute nor the memory roof", evidence,
      "Give them more work in flight: larger or more blocks (split the reduction dimension), fewer "
      "registers a thread, or fuse them; begin with the first one named."));
}

}  // namespace llmprof
