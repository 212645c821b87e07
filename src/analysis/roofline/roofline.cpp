#include "analysis/roofline/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "analysis/roofline/metric_lookup.h"
#include "analysis/statistics/statistics.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

// A rate as reported by ncu, otherwise the count over the launch's duration.
std::optional<double> per_second(const MetricLookup& metrics, std::string_view metric,
                                 std::string_view unit) {
  const std::string rate_unit = unit.empty() ? std::string() : std::string(unit) + "/s";
  if (const auto rate = metrics.mean(fmt::format("{}.per_second", metric), rate_unit)) return rate;
  const auto count = metrics.mean(metric, unit);
  const auto duration = metrics.duration_ns();
  if (!count || !duration || *duration <= 0) return std::nullopt;
  return *count * kNanosecondsPerSecond / *duration;
}

std::optional<double> dram_bytes(const MetricLookup& metrics) {
  if (const auto all = per_second(metrics, "dram__bytes.sum", "byte")) return all;
  const auto read = per_second(metrics, "dram__bytes_read.sum", "byte");
  const auto written = per_second(metrics, "dram__bytes_write.sum", "byte");
  if (read && written) return *read + *written;
  return metrics.mean("Memory Throughput", "byte/s");  // its name on the details page
}

// Floating-point instructions outside the tensor cores, with the operations in each: an addition or
// product is 1, a fused multiply-add is 2, and a half-precision instruction works on a pair.
struct Instruction {
  std::string_view name;
  double operations;
  bool needed;  // without it a sum would be too low; LLMs do not use double precision
};
constexpr std::array<Instruction, 9> kInstructions = {{{"fadd", 1, true},
                                                       {"fmul", 1, true},
                                                       {"ffma", 2, true},
                                                       {"hadd", 2, true},
                                                       {"hmul", 2, true},
                                                       {"hfma", 4, true},
                                                       {"dadd", 1, false},
                                                       {"dmul", 1, false},
                                                       {"dfma", 2, false}}};

std::optional<double> instructions_per_second(const MetricLookup& metrics,
                                              std::string_view instruction) {
  for (const std::string_view level : {"smsp", "sm"}) {
    const std::string name =
        fmt::format("{}__sass_thread_inst_executed_op_{}_pred_on.sum", level, instruction);
    if (const auto rate = per_second(metrics, name, "inst")) return rate;
    const auto per_cycle = metrics.mean(name + ".per_cycle_elapsed", "inst/cycle");
    const auto clock = metrics.mean(fmt::format("{}__cycles_elapsed.avg.per_second", level), "hz");
    if (per_cycle && clock) return *per_cycle * *clock;
  }
  return std::nullopt;
}

std::optional<double> scalar_flops(const MetricLookup& metrics) {
  double sum = 0;
  for (const Instruction& instruction : kInstructions) {
    const auto rate = instructions_per_second(metrics, instruction.name);
    if (!rate && instruction.needed) return std::nullopt;
    sum += instruction.operations * rate.value_or(0);
  }
  return sum;
}

// Operations of the tensor cores, counting multiply and add separately. ncu counts them by input
// type and again by instruction.
std::optional<double> tensor_flops(const MetricLookup& metrics) {
  for (const std::string_view family : {"sm__ops_path_tensor_src_", "sm__ops_path_tensor_op_"}) {
    std::optional<double> sum;
    for (const std::string& metric : metrics.counts_of_family(family)) {
      if (const auto rate = per_second(metrics, metric, "")) sum = sum.value_or(0) + *rate;
    }
    if (sum) return sum;
  }
  return std::nullopt;
}

std::optional<double> flops(const MetricLookup& metrics, KernelClass kernel_class) {
  const auto scalar = scalar_flops(metrics);
  const auto tensor = tensor_flops(metrics);
  if (!scalar || (!tensor && may_use_tensor_cores(kernel_class))) return std::nullopt;
  return *scalar + tensor.value_or(0);
}

using Percent = std::optional<double>;  // of the peak that ncu measured against (SpeedOfLight)

Bound bound_of(const Percent& compute, const Percent& memory) {
  if (!compute || !memory) return Bound::unknown;
  if (std::max(*compute, *memory) < kBoundPercent) return Bound::latency;
  return *compute > *memory ? Bound::compute : Bound::memory;
}

void add_bound(const Percent& compute, const Percent& memory, KernelRoofline& kernel) {
  kernel.compute_share_of_peak = share_of_percent(compute);
  kernel.memory_share_of_peak = share_of_percent(memory);
  kernel.bound = bound_of(compute, memory);
}

// Without SpeedOfLight's throughputs, the busiest SM pipe represents compute and the busiest memory
// level represents memory: SpeedOfLight uses the same maxima.
std::optional<double> busiest_pipe(const MetricLookup& metrics) {
  for (const std::string_view of :
       {".avg.pct_of_peak_sustained_elapsed", ".avg.pct_of_peak_sustained_active"}) {
    std::optional<double> highest;
    for (const std::string_view family : {"sm__pipe_", "sm__inst_executed_pipe_"}) {
      const auto percent = metrics.highest_percent(family, of);
      if (percent) highest = std::max(highest.value_or(*percent), *percent);
    }
    if (highest) return highest;
  }
  return metrics.mean("SM Busy", "%");
}

std::optional<double> busiest_memory(const MetricLookup& metrics) {
  std::optional<double> highest;
  for (const std::string_view level :
       {"gpu__dram_throughput", "dram__throughput", "dram__cycles_active", "lts__throughput",
        "l1tex__throughput"}) {
    const auto percent =
        metrics.mean(fmt::format("{}.avg.pct_of_peak_sustained_elapsed", level), "%");
    if (percent) highest = std::max(highest.value_or(*percent), *percent);
  }
  return highest ? highest : metrics.first_mean({"DRAM Throughput", "Max Bandwidth"}, "%");
}

std::optional<KernelRoofline> place(const KernelRow& row, size_t index) {
  const MetricLookup metrics(row.metrics);
  KernelRoofline kernel;
  kernel.row = index;
  kernel.flops_per_s =
      quantity<profile::FlopsPerSecond>(flops(metrics, row.description.kernel_class));
  kernel.bytes_per_s = quantity<profile::BytesPerSecond>(dram_bytes(metrics));
  if (kernel.flops_per_s && kernel.bytes_per_s) {
    kernel.flops_per_byte = quantity<profile::FlopsPerByte>(
        ratio(kernel.flops_per_s->value, kernel.bytes_per_s->value));
  }
  Percent compute = metrics.first_mean({"sm__throughput.avg.pct_of_peak_sustained_elapsed",
                                        "Compute (SM) Throughput", "Compute (SM) [%]", "SOL SM"},
                                       "%");
  Percent memory =
      metrics.first_mean({"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
                          "Memory Throughput", "Memory [%]", "SOL Memory"},
                         "%");
  if (!compute) compute = busiest_pipe(metrics);
  if (!memory) memory = busiest_memory(metrics);
  add_bound(compute, memory, kernel);
  kernel.launches = metrics.launches();
  kernel.commonest_grid = row.commonest_grid;
  kernel.grids = row.measured_grids;
  const bool placed = kernel.flops_per_s || kernel.bytes_per_s || compute || memory;
  return placed ? std::optional(kernel) : std::nullopt;
}

profile::Reasons bound_rule(ReasonKind kind) {
  return {make_reason(
      kind, FindingValues().add("bound_share_of_peak", *share_of_percent(kBoundPercent)))};
}

profile::Reasons what_is_missing(const std::vector<KernelRoofline>& kernels) {
  if (kernels.empty()) return {make_reason(ReasonKind::no_kernel_metrics)};
  profile::Reasons missing;
  const auto add = [&](ReasonKind kind, auto present) {
    const auto with = std::ranges::count_if(kernels, present);
    const size_t without = kernels.size() - static_cast<size_t>(with);
    if (without == 0) return;
    FindingValues values;
    values.add("kernels_without", without).add("kernels", kernels.size());
    missing.push_back(make_reason(kind, values));
  };
  add(ReasonKind::flops_not_counted,
      [](const auto& kernel) { return kernel.flops_per_s.has_value(); });
  add(ReasonKind::bytes_not_counted,
      [](const auto& kernel) { return kernel.bytes_per_s.has_value(); });
  add(ReasonKind::throughput_not_measured,
      [](const auto& kernel) { return kernel.bound != Bound::unknown; });
  return missing;
}

}  // namespace

bool may_use_tensor_cores(KernelClass kernel_class) {
  return is_product(kernel_class) || kernel_class == KernelClass::attention ||
         kernel_class == KernelClass::other;
}

namespace {

std::optional<KernelRoofline> place_operator(const KernelRow& row, size_t index,
                                             const llm::GpuSpec* cpu) {
  if ((!row.flops && !row.bytes) || row.total <= 0) return std::nullopt;
  const auto rate = [&](const std::optional<double>& sum) {
    return sum ? std::optional(*sum / static_cast<double>(row.total) * kNanosecondsPerSecond)
               : std::nullopt;
  };
  const auto flops = rate(row.flops);
  const auto bytes = rate(row.bytes);
  KernelRoofline kernel;
  kernel.row = index;
  kernel.source = RooflineSource::recorded;
  kernel.launches = row.calls;
  kernel.flops_per_s = quantity<profile::FlopsPerSecond>(flops);
  kernel.bytes_per_s = quantity<profile::BytesPerSecond>(bytes);
  if (row.flops && row.bytes) kernel.flops_per_byte = {*row.flops / *row.bytes};
  if (cpu == nullptr) return kernel;
  // An operator with no FLOPs worth counting, or no bytes, still has one roof.
  add_bound(ratio(flops.value_or(0), cpu->fp32.value_or(0)).value_or(0) * kPercent,
            ratio(bytes.value_or(0), cpu->memory_bandwidth).value_or(0) * kPercent, kernel);
  return kernel;
}

}  // namespace

RankedRoofline operator_roofline(const KernelRanking& ranking, const llm::GpuSpec* cpu) {
  RankedRoofline roofline;
  roofline.recorded = true;
  for (size_t i = 0; i < ranking.rows.size(); ++i) {
    if (const auto kernel = place_operator(ranking.rows[i], i, cpu)) {
      roofline.kernels.push_back(*kernel);
    }
  }
  roofline.rule = bound_rule(ReasonKind::bound_by_recorded_work);
  if (roofline.kernels.empty()) {
    roofline.missing = {make_reason(ReasonKind::operators_without_work)};
  } else if (cpu == nullptr) {
    roofline.missing = {make_reason(ReasonKind::bound_needs_cpu_peaks)};
  }
  return roofline;
}

RankedRoofline kernel_roofline(const KernelRanking& ranking) {
  RankedRoofline roofline;
  for (size_t i = 0; i < ranking.rows.size(); ++i) {
    if (const auto kernel = place(ranking.rows[i], i)) roofline.kernels.push_back(*kernel);
  }
  roofline.rule = bound_rule(ReasonKind::bound_by_ncu);
  roofline.missing = what_is_missing(roofline.kernels);
  return roofline;
}

namespace {

std::optional<profile::BoundShares> bound_shares(const KernelRanking& ranking,
                                                 const RankedRoofline& roofline) {
  if (roofline.kernels.empty()) return std::nullopt;
  std::array<double, profile::kWords<Bound>.size()> shares{};
  double known = 0;
  for (const KernelRoofline& kernel : roofline.kernels) {
    const double share = ranking.rows[kernel.row].share;
    shares[static_cast<size_t>(kernel.bound)] += share;
    if (kernel.bound != Bound::unknown) known += share;
  }
  const auto of = [&](Bound bound) { return profile::Share{shares[static_cast<size_t>(bound)]}; };
  return profile::BoundShares{
      of(Bound::memory), of(Bound::compute), of(Bound::latency), {std::max(0.0, 1 - known)}};
}

// Any one of these places a kernel in the roofline.
constexpr std::array<std::string_view, 3> kNeededMetrics = {
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "dram__bytes.sum"};

uint64_t metrics_read(const trace::Trace& trace) {
  std::set<trace::MetricId> metrics;
  for (const trace::MetricValues& values : trace.metric_values) metrics.insert(values.metric);
  return metrics.size();
}

uint64_t metrics_of_kernels(const KernelRanking& ranking) {
  std::set<std::string_view> metrics;
  for (const KernelRow& row : ranking.rows) {
    for (const auto& [name, metric] : row.metrics) metrics.insert(name);
  }
  return metrics.size();
}

}  // namespace

profile::Roofline named_roofline(const trace::Trace& trace, const KernelRanking& ranking,
                                 const RankedRoofline& from) {
  profile::Roofline roofline;
  roofline.rule_reasons = from.rule;
  roofline.share_of_kernel_time = bound_shares(ranking, from);
  roofline.metrics_read = metrics_read(trace);
  roofline.metrics_of_kernels = metrics_of_kernels(ranking);
  if (!from.kernels.empty() || roofline.metrics_read == 0) {
    roofline.why_not_reasons = from.missing;
  } else if (roofline.metrics_of_kernels > 0) {
    roofline.missing_metrics = {kNeededMetrics.begin(), kNeededMetrics.end()};
  }
  for (const KernelRoofline& kernel : from.kernels) {
    const KernelRow& ranked = ranking.rows[kernel.row];
    profile::RooflineKernel& row = roofline.kernels.emplace_back(kernel);
    row.kernel_name = to_printable(trace.strings[ranked.name]);
    row.short_name = ranked.description.short_name;
    row.device = ranked.device;
  }
  roofline.sampled = from.sampled;
  return roofline;
}

}  // namespace llmprof::analysis
