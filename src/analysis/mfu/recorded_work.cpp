#include <array>

#include "analysis/mfu/utilization.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kClassCount = static_cast<size_t>(KernelClass::other) + 1;

struct Sum {
  std::array<double, kClassCount> flops{};
  std::array<double, kClassCount> bytes{};
  uint64_t operators = 0;
  uint64_t with_figures = 0;
  uint64_t instances = 0;
};

RecordedWork mean_of(const Sum& sum) {
  RecordedWork work;
  const auto instances = static_cast<double>(sum.instances);
  for (size_t kind = 0; kind < kClassCount; ++kind) {
    if (sum.flops[kind] <= 0 && sum.bytes[kind] <= 0) continue;
    const auto kernel_class = static_cast<KernelClass>(kind);
    llm::CostPart part;
    part.name = to_string(kernel_class);
    part.flops = sum.flops[kind] / instances;
    const bool cache = kernel_class == KernelClass::attention;
    (cache ? part.kv_bytes : part.weight_bytes) = sum.bytes[kind] / instances;
    work.cost.parts.push_back(std::move(part));
  }
  profile::FindingValues values;
  values.add_number("operators_with_work", static_cast<double>(sum.with_figures))
      .add_number("operators", static_cast<double>(sum.operators))
      .add_number("instances", instances);
  work.basis = {make_reason(profile::ReasonKind::recorded_operators, values)};
  return work;
}

}  // namespace

std::vector<std::optional<RecordedWork>> recorded_work(const trace::Trace& trace,
                                                       const Stages& stages,
                                                       const DescribedNames& names) {
  std::vector<std::optional<RecordedWork>> result(stages.stages.size());
  const trace::KernelTable& kernels = trace.kernels;
  if (kernels.flops.empty() || kernels.bytes.empty()) return result;
  std::vector<Sum> sums(stages.stages.size());
  for (const StageInstance& instance : stages.instances) {
    if (!instance.warmup) ++sums[instance.stage].instances;
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    const InstanceId owner = stages.owners.kernel_instance[i];
    if (!owner.valid() || stages.instances[owner.index()].warmup) continue;
    Sum& sum = sums[stages.instances[owner.index()].stage];
    const auto kind = static_cast<size_t>(names[kernels.name[i]].kernel_class);
    ++sum.operators;
    if (kernels.flops[i] > 0 || kernels.bytes[i] > 0) ++sum.with_figures;
    sum.flops[kind] += static_cast<double>(kernels.flops[i]);
    sum.bytes[kind] += static_cast<double>(kernels.bytes[i]);
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].with_figures > 0) result[i] = mean_of(sums[i]);
  }
  return result;
}

}  // namespace llmprof::analysis
