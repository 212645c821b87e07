#include "analysis/stages/kernel_scopes.h"

#include <algorithm>
#include <set>
#include <vector>

#include "analysis/stages/thresholds.h"

namespace llmprof::analysis {

namespace {

// Share of kernel time after initialization. If stages cover less, they do not represent what the
// GPU did.
constexpr double kEnoughCoverage = 0.9;

// Scopes before bursts are considered.
std::vector<KernelScope> plain_scopes(const trace::Trace& trace, const Stages& stages) {
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
  std::vector<KernelScope> scopes(trace.kernels.size());
  for (size_t row = 0; row < scopes.size(); ++row) scopes[row] = scope_of(row);
  return scopes;
}

// Bursts of one device's kernels that a compiler tries in the first request and no later one runs.
// A loop inside layers (a scan over tokens) is also a burst in measured instances.
void set_autotuning(const std::vector<uint32_t>& rows, const trace::Trace& trace,
                    std::vector<KernelScope>& scopes) {
  std::vector<uint32_t> names;
  names.reserve(rows.size());
  for (const uint32_t row : rows) names.push_back(trace.kernels.name[row].value);
  const std::vector<KernelBurst> bursts = find_kernel_bursts(names);
  std::set<uint32_t> in_requests;
  for (const KernelBurst& burst : bursts) {
    for (size_t at = burst.begin; at < burst.end; ++at) {
      if (scopes[rows[at]] == KernelScope::measured) in_requests.insert(names[at]);
    }
  }
  for (const KernelBurst& burst : bursts) {
    const auto first = names.begin() + static_cast<std::ptrdiff_t>(burst.begin);
    if (std::all_of(first, first + burst.period,
                    [&](uint32_t name) { return in_requests.contains(name); })) {
      continue;
    }
    for (size_t at = burst.begin; at < burst.end; ++at) {
      KernelScope& scope = scopes[rows[at]];
      if (scope == KernelScope::warmup || scope == KernelScope::outside) {
        scope = KernelScope::autotuning;
      }
    }
  }
}

template <class Table>
Calls in_stages(const Table& table, const std::vector<InstanceId>& owners) {
  Calls sum;
  for (size_t i = 0; i < table.size(); ++i) {
    if (owners[i].valid()) sum += {1, table.end[i] - table.start[i]};
  }
  return sum;
}

}  // namespace

std::vector<KernelBurst> find_kernel_bursts(std::span<const uint32_t> sequence) {
  std::vector<KernelBurst> bursts;
  for (uint32_t period = 1; period <= threshold::kBurstPeriod; ++period) {
    size_t begin = period;
    for (size_t i = period; i <= sequence.size(); ++i) {
      if (i < sequence.size() && sequence[i] == sequence[i - period]) continue;
      if (i - begin >= threshold::kBurstRepeats * period)
        bursts.push_back({begin - period, i, period});
      begin = i + 1;
    }
  }
  return bursts;
}

ScopeTotals total_by_scope(const trace::Trace& trace, const Stages& stages) {
  std::vector<KernelScope> scopes = plain_scopes(trace, stages);
  std::vector<std::vector<uint32_t>> rows(trace.devices.size());
  for (size_t row = 0; row < scopes.size(); ++row) {
    rows[trace.queues[trace.kernels.queue[row]].device.index()].push_back(
        static_cast<uint32_t>(row));
  }
  for (const auto& of_device : rows) set_autotuning(of_device, trace, scopes);
  ScopeTotals totals;
  for (size_t row = 0; row < scopes.size(); ++row) {
    totals[static_cast<size_t>(scopes[row])] +=
        {1, trace.kernels.end[row] - trace.kernels.start[row]};
  }
  return totals;
}

std::optional<profile::Coverage> coverage(const trace::Trace& trace, const Stages& stages,
                                          const std::optional<ScopeTotals>& scopes) {
  if (trace.kernels.size() == 0) return std::nullopt;
  profile::Coverage coverage;
  const Nanoseconds time = total_time(trace.kernels);
  const Calls inside = in_stages(trace.kernels, stages.owners.kernel_instance);
  coverage.kernels = trace.kernels.size();
  coverage.kernels_in_stages = inside.calls;
  coverage.kernels_share = share(inside.calls, coverage.kernels);
  coverage.kernel_sum = to_milliseconds(time);
  coverage.kernel_sum_in_stages = to_milliseconds(inside.total);
  coverage.kernel_sum_share = share(inside.total, time);
  const Calls before =
      scopes ? (*scopes)[static_cast<size_t>(KernelScope::initialization)] : Calls{};
  coverage.initialization_kernels = before.calls;
  coverage.initialization_sum = to_milliseconds(before.total);
  coverage.work_kernels = coverage.kernels - before.calls;
  coverage.work_kernels_share = share(inside.calls, coverage.work_kernels);
  coverage.work_sum = to_milliseconds(time - before.total);
  coverage.work_sum_share = share(inside.total, time - before.total);
  coverage.representative =
      !coverage.work_sum_share || coverage.work_sum_share->value >= kEnoughCoverage;
  coverage.hidden_graph = to_milliseconds(total_time(trace.graph_replays));
  coverage.hidden_graph_in_stages =
      to_milliseconds(in_stages(trace.graph_replays, stages.owners.replay_instance).total);
  return coverage;
}

}  // namespace llmprof::analysis
