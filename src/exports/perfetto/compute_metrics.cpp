#include "exports/perfetto/compute_metrics.h"

#include <array>

#include "analysis/roofline/metric_lookup.h"

namespace llmprof::exports {
namespace {

constexpr std::array<ComputeMetric, 18> kComputeMetrics = {{
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) Throughput", "%", true},
    {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "Memory Throughput", "%",
     true},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Throughput", "%", true},
    {"gpu__time_duration.sum", "Duration", "ns", true},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy", "%", true},
    {"sm__warps_active.avg.per_cycle_active", "Achieved Active Warps Per SM", "warp"},
    {"l1tex__throughput.avg.pct_of_peak_sustained_active", "L1/TEX Cache Throughput", "%"},
    {"lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2 Cache Throughput", "%"},
    {"gpc__cycles_elapsed.max", "Elapsed Cycles", "cycle"},
    {"gpc__cycles_elapsed.avg.per_second", "SM Frequency", "hz"},
    {"dram__cycles_elapsed.avg.per_second", "DRAM Frequency", "hz"},
    {"sm__cycles_active.avg", "SM Active Cycles", "cycle"},
    {"sm__inst_executed.avg.per_cycle_active", "Executed Ipc Active", "inst/cycle"},
    {"sm__inst_executed.avg.per_cycle_elapsed", "Executed Ipc Elapsed", "inst/cycle"},
    {"sm__inst_issued.avg.per_cycle_active", "Issued Ipc Active", "inst/cycle"},
    {"sm__inst_issued.avg.pct_of_peak_sustained_active", "Issue Slots Busy", "%"},
    {"dram__bytes_read.sum", "", "byte"},
    {"dram__bytes_write.sum", "", "byte"},
}};

}  // namespace

std::span<const ComputeMetric> compute_metrics() { return kComputeMetrics; }

std::optional<double> find_metric(const std::map<std::string, analysis::MetricSummary>& metrics,
                                  const ComputeMetric& wanted) {
  const analysis::MetricLookup lookup(metrics);
  if (const auto value = lookup.mean(wanted.name, wanted.unit)) return value;
  if (wanted.label.empty()) return std::nullopt;
  return lookup.mean(wanted.label, wanted.unit);
}

}  // namespace llmprof::exports
