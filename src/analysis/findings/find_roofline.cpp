#include <algorithm>

#include "analysis/findings/finders.h"
#include "analysis/findings/make_finding.h"

namespace llmprof::analysis {
namespace {

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
  double roof = 0;  // the higher of both, 0 to 1
  uint64_t calls = 0;
  uint64_t measured_calls = 0;  // like one that was measured
  Nanoseconds measured_total = 0;

  [[nodiscard]] double above(double instances) const {  // ns per instance
    return static_cast<double>(measured_total) / instances * std::max(0.0, 1 - roof);
  }
};

// One for each kernel name in the stage that is latency-bound; launches are not counted yet.
std::vector<LatencyBound> latency_bound(const StageFacts& facts, const Roofline& roofline) {
  std::vector<bool> in_stage(facts.ranking->rows.size(), false);
  for (const auto& of_class : facts.by_class) {
    for (const KernelInStage& kernel : of_class) in_stage[kernel.row] = true;
  }
  std::vector<LatencyBound> found;
  for (const KernelRoofline& kernel : roofline.kernels) {
    if (kernel.bound != Bound::latency || !in_stage[kernel.row]) continue;
    const auto roof = std::max(kernel.compute_share_of_peak, kernel.memory_share_of_peak);
    if (!roof) continue;
    LatencyBound bound;
    bound.row = &facts.ranking->rows[kernel.row];
    bound.roof = roof->value;
    found.push_back(bound);
  }
  return found;
}

void count_launches(const StageFacts& facts, const trace::Trace& trace, const Stages& stages,
                    std::vector<LatencyBound>& found) {
  std::vector<LatencyBound*> by_name(trace.strings.size(), nullptr);
  for (LatencyBound& bound : found) by_name[bound.row->name.index()] = &bound;
  const trace::KernelTable& kernels = trace.kernels;
  const std::vector<bool>& measured = facts.ranking->measured_kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    LatencyBound* bound = by_name[kernels.name[i].index()];
    const InstanceId owner = stages.owners.kernel_instance[i];
    if (bound == nullptr || !owner.valid()) continue;
    const StageInstance& instance = stages.instances[owner.index()];
    if (instance.warmup || &stages.stages[instance.stage] != facts.stage) continue;
    ++bound->calls;
    if (!measured[i]) continue;
    ++bound->measured_calls;
    bound->measured_total += kernels.end[i] - kernels.start[i];
  }
}

}  // namespace

void find_latency_bound(const StageFacts& facts, const trace::Trace& trace, const Stages& stages,
                        const Roofline& roofline, std::vector<Finding>& findings) {
  std::vector<LatencyBound> kernels = latency_bound(facts, roofline);
  if (kernels.empty() || facts.ranking->measured_kernels.size() != trace.kernels.size()) return;
  count_launches(facts, trace, stages, kernels);
  uint64_t calls = 0;
  for (const LatencyBound& kernel : kernels) calls += kernel.calls;
  std::erase_if(kernels, [](const LatencyBound& kernel) { return kernel.measured_calls == 0; });
  if (kernels.empty()) return;
  std::stable_sort(kernels.begin(), kernels.end(), [&](const auto& a, const auto& b) {
    return a.above(facts.instances()) > b.above(facts.instances());
  });
  double above = 0;
  uint64_t measured = 0;
  for (const LatencyBound& kernel : kernels) {
    above += kernel.above(facts.instances());
    measured += kernel.measured_calls;
  }
  profile::FindingValues values;
  values.add_number("kernel_names", static_cast<double>(kernels.size()))
      .add_number("launches_measured", static_cast<double>(measured))
      .add_number("launches", static_cast<double>(calls));
  for (size_t i = 0; i < std::min(kNamedKernels, kernels.size()); ++i) {
    const KernelRow& row = *kernels[i].row;
    const std::string& name = row.description.short_name;
    values.add("kernel_share_of_roof", profile::Share{kernels[i].roof}, name);
    if (const auto active = occupancy(row)) {
      values.add("kernel_occupancy", profile::Share{*active / kPercent}, name);
    }
  }
  findings.push_back(
      make_finding(facts, profile::FindingKind::latency_bound_kernels, above, std::move(values)));
}

}  // namespace llmprof::analysis
