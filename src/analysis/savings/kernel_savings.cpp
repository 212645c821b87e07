#include "analysis/savings/savings.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "analysis/roofline/metric_lookup.h"
#include "analysis/statistics/statistics.h"
#include "base/text.h"
#include "llm/gpu_spec.h"
#include "profile/reasons.h"

namespace llmprof::analysis {
namespace {

// The least time of one launch, from a kernel profiler's counts.
struct OwnFloor {
  double each = 0;  // ns per launch: the longer of its DRAM bytes and its FLOPs at the GPU's peak
  profile::Reasons rule;
};

// Number formats that tensor cores multiply, as ncu and GpuSpec::peak_for spell them. The fastest
// one that occurs counts, since a floor must not be too high.
struct Format {
  std::string_view ncu;
  std::string_view peak;
};
constexpr std::array<Format, 3> kFastFormats = {
    {{"src_fp4", "nvfp4"}, {"src_fp8", "fp8"}, {"src_int8", "int8"}}};

std::string_view number_format(const KernelRow& row) {
  for (const Format& format : kFastFormats) {
    for (const auto& [name, metric] : row.metrics) {
      if (metric.mean > 0 && name.find(format.ncu) != std::string::npos) return format.peak;
    }
  }
  return "f16";
}

// None if bytes, FLOPs or duration were not measured, if launches of several grids were (their mean
// fits none), or if the peak for the kernel's number format is unknown.
std::optional<OwnFloor> own_floor(const KernelRow& row, const KernelRoofline& measured,
                                  const llm::GpuSpec& gpu) {
  const auto duration = MetricLookup(row.metrics).duration_ns();
  if (!measured.flops_per_s || !measured.bytes_per_s || !duration || measured.grids != 1) {
    return std::nullopt;
  }
  const std::string_view format = number_format(row);
  const auto peak = gpu.peak_for(format);
  if (!peak || *peak <= 0 || gpu.memory_bandwidth <= 0) return std::nullopt;
  // Rates times the profiler's duration give counts again, whatever its clocks were.
  const double for_bytes = measured.bytes_per_s->value * *duration / gpu.memory_bandwidth;
  const double for_flops = measured.flops_per_s->value * *duration / *peak;
  OwnFloor floor;
  floor.each = std::max(for_bytes, for_flops);
  profile::FindingValues values;
  if (for_bytes >= for_flops) {
    values.add("peak_bandwidth", profile::BytesPerSecond{gpu.memory_bandwidth});
    floor.rule = {make_reason(profile::ReasonKind::own_bytes_at_peak, values)};
  } else {
    values.add("peak_flops", profile::FlopsPerSecond{*peak}).add("format", format);
    floor.rule = {make_reason(profile::ReasonKind::own_flops_at_peak, values)};
  }
  return floor;
}

// gemm and gemv share one floor for matrix products; every other class has its own.
size_t floor_group(KernelClass kernel_class) {
  return static_cast<size_t>(kernel_class == KernelClass::gemv ? KernelClass::gemm : kernel_class);
}

struct ClassFloor {
  double floor_part = 0;  // share of this time, 0 to 1
  profile::Reasons rule;
};
using ClassFloors = std::array<ClassFloor, kClassParts>;

ClassFloors floors_of(const StageSavings& stage) {
  ClassFloors floors;
  std::array<double, kClassParts> charged{};
  std::array<double, kClassParts> least{};
  for (const SavingsPart& part : stage.parts) {
    if (part.part >= kClassParts) continue;
    const size_t group = floor_group(static_cast<KernelClass>(part.part));
    charged[group] += part.time;
    least[group] += std::min(part.floor, part.time);
    if (floors[group].rule.empty()) floors[group].rule = part.floor_rule;
  }
  for (size_t i = 0; i < kClassParts; ++i) {
    if (charged[i] > 0) floors[i].floor_part = least[i] / charged[i];
  }
  return floors;
}

// One entry per row of the ranking.
std::vector<std::optional<OwnFloor>> own_floors(const KernelRanking& ranking,
                                                const RankedRoofline& roofline,
                                                const llm::GpuSpec* gpu) {
  std::vector<std::optional<OwnFloor>> floors(ranking.rows.size());
  if (gpu == nullptr || roofline.recorded) return floors;
  for (const KernelRoofline& kernel : roofline.kernels) {
    floors[kernel.row] = own_floor(ranking.rows[kernel.row], kernel, *gpu);
  }
  return floors;
}

std::optional<profile::Milliseconds> saving_per(double time, double count) {
  return to_milliseconds(ratio(time, count));
}

}  // namespace

std::vector<profile::KernelSaving> kernel_savings(const KernelRanking& ranking,
                                                  const std::vector<OpenedKernel>& opened,
                                                  uint64_t instances, const StageSavings& stage,
                                                  const RankedRoofline& roofline,
                                                  const llm::GpuSpec* gpu) {
  std::vector<profile::KernelSaving> result;
  const auto own = own_floors(ranking, roofline, gpu);
  const ClassFloors floors = floors_of(stage);
  const auto per_instance = [&](auto sum) {
    return static_cast<double>(sum) / static_cast<double>(instances);
  };
  for (size_t row = 0; instances > 0 && row < opened.size(); ++row) {
    if (opened[row].stages.size() <= stage.stage) continue;
    const StageTime& in_stage = opened[row].stages[stage.stage];
    if (in_stage.steady.total == 0) continue;
    const KernelRow& kernel = ranking.rows[row];
    const ClassFloor& of_class = floors[floor_group(kernel.description.kernel_class)];
    const double time = per_instance(in_stage.steady.total);
    const bool by_own = own[row] && in_stage.steady_measured == in_stage.steady.calls;
    const double floor = by_own
                             ? std::min(time, own[row]->each * per_instance(in_stage.steady.calls))
                             : time * of_class.floor_part;
    const double saved = saving(time, floor, stage.most);
    result.push_back(
        {kernel.description.short_name, kernel.device, to_milliseconds(time),
         to_milliseconds(floor), std::nullopt,
         by_own ? profile::FloorBasis::own_counters : profile::FloorBasis::share_of_class,
         to_milliseconds(saved), saving_per(saved, stage.tokens),
         saving_per(saved, stage.decode_steps), by_own ? own[row]->rule : of_class.rule});
  }
  std::ranges::stable_sort(result, std::greater(), &profile::KernelSaving::saving);
  return result;
}

std::vector<profile::PotentialSavings> named_savings(const Stages& stages, trace::DeviceKind device,
                                                     const KernelRanking& ranking,
                                                     const std::vector<OpenedKernel>& opened,
                                                     const UntracedStages& untraced,
                                                     const std::vector<StageSavings>& of_stages,
                                                     const RankedRoofline& roofline,
                                                     const UseOfPeaks& use) {
  std::vector<profile::PotentialSavings> rows;
  for (const StageSavings& from : of_stages) {
    profile::PotentialSavings& row = rows.emplace_back();
    row.stage = to_printable(stages.stages[from.stage].name);
    row.wall = to_milliseconds(from.wall);
    row.bound = to_milliseconds(from.bound);
    row.bound_reasons = from.bound_reason;
    row.tokens = unless_zero(from.tokens);
    if (from.most < kAnySaving) row.most = to_milliseconds(from.most);
    for (const SavingsPart& part : from.parts) {
      row.parts.push_back({budget_part(part.part, device), to_milliseconds(part.time),
                           to_milliseconds(part.floor), std::nullopt,
                           to_milliseconds(part.potential()),
                           saving_per(part.potential(), from.tokens),
                           saving_per(part.potential(), from.decode_steps), part.floor_rule});
    }
    row.kernels = kernel_savings(ranking, opened, untraced.budgets.stages[from.stage].instances,
                                 from, roofline, use.gpu ? &*use.gpu : nullptr);
  }
  return rows;
}

}  // namespace llmprof::analysis
