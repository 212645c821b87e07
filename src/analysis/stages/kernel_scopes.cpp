#include "analysis/stages/kernel_scopes.h"

#include <algorithm>
#include <vector>

namespace llmprof::analysis {

std::string_view to_string(KernelScope scope) {
  switch (scope) {
    case KernelScope::measured:
      return "measured";
    case KernelScope::warmup:
      return "warm-up";
    case KernelScope::initialization:
      return "initialization";
    case KernelScope::outside:
      return "outside";
  }
  return "outside";
}

ScopeTotals total_by_scope(const trace::Trace& trace, const Stages& stages) {
  std::vector<Nanoseconds> first_stage(trace.devices.size(), INT64_MIN);
  for (const StageInstance& instance : stages.instances) {
    if (!instance.device.valid()) continue;
    Nanoseconds& first = first_stage[instance.device.index()];
    first = first == INT64_MIN ? instance.start : std::min(first, instance.start);
  }
  const auto scope_of = [&](size_t row) {
    const InstanceId owner = stages.owners.kernel_instance[row];
    if (owner.valid()) {
      return stages.instances[owner.index()].warmup ? KernelScope::warmup : KernelScope::measured;
    }
    const trace::DeviceId device = trace.queues[trace.kernels.queue[row]].device;
    const bool before = trace.kernels.start[row] < first_stage[device.index()];
    return before ? KernelScope::initialization : KernelScope::outside;
  };
  ScopeTotals totals;
  for (size_t row = 0; row < trace.kernels.size(); ++row) {
    ScopeTotal& total = totals[static_cast<size_t>(scope_of(row))];
    ++total.kernels;
    total.time += trace.kernels.end[row] - trace.kernels.start[row];
  }
  return totals;
}

}  // namespace llmprof::analysis
