#include "analysis/savings/kernel_savings.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "analysis/roofline/metric_lookup.h"
#include "analysis/roofline/roofline.h"
#include "llm/gpu_spec.h"
#include "profile/reasons.h"

namespace llmprof::analysis {
namespace {

// The least time of one launch by what a kernel profiler counted of it.
struct OwnFloor {
  double each = 0;  // ns per launch: its DRAM bytes or its FLOPs at the GPU's peak, the longer
  profile::Reasons rule;
};

// What the tensor cores multiplied, by ncu's spelling and by that of GpuSpec::peak_for. The
// fastest that occurs counts, since a floor must not be too high.
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

// None where bytes, FLOPs or duration were not measured, where launches of several grids were
// (their mean is of none of them), and without the peak of what the kernel multiplies.
std::optional<OwnFloor> own_floor(const KernelRow& row, const KernelRoofline& measured,
                                  const llm::GpuSpec& gpu) {
  const auto duration = MetricLookup(row.metrics).duration_ns();
  if (!measured.flops_per_s || !measured.bytes_per_s || !duration || measured.grids != 1) {
    return std::nullopt;
  }
  const std::string_view format = number_format(row);
  const auto peak = gpu.peak_for(format);
  if (!peak || *peak <= 0 || gpu.memory_bandwidth <= 0) return std::nullopt;
  // Rates times the profiler's duration are counts again, whatever its clocks were.
  const double for_bytes = measured.bytes_per_s->value * *duration / gpu.memory_bandwidth;
  const double for_flops = measured.flops_per_s->value * *duration / *peak;
  OwnFloor floor;
  floor.each = std::max(for_bytes, for_flops);
  profile::FindingValues values;
  if (for_bytes >= for_flops) {
    values.add("peak_bandwidth", profile::BytesPerSecond{gpu.memory_bandwidth});
    floor.rule = {make_reason(profile::ReasonKind::own_bytes_at_peak, values)};
  } else {
    values.add("peak_flops", profile::FlopsPerSecond{*peak}).add_text("format", format);
    floor.rule = {make_reason(profile::ReasonKind::own_flops_at_peak, values)};
  }
  return floor;
}

// The matrix products of gemm and gemv share one floor; all other classes have their own.
size_t floor_group(KernelClass kernel_class) {
  return static_cast<size_t>(kernel_class == KernelClass::gemv ? KernelClass::gemm : kernel_class);
}

struct ClassFloor {
  double floor_part = 0;  // of that time, 0 to 1
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

// One per row of the ranking.
std::vector<std::optional<OwnFloor>> own_floors(const KernelRanking& ranking,
                                                const Roofline& roofline, const llm::GpuSpec* gpu) {
  std::vector<std::optional<OwnFloor>> floors(ranking.rows.size());
  if (gpu == nullptr || roofline.recorded) return floors;
  for (const KernelRoofline& kernel : roofline.kernels) {
    floors[kernel.row] = own_floor(ranking.rows[kernel.row], kernel, *gpu);
  }
  return floors;
}

}  // namespace

std::string_view floor_basis(const KernelSavings& kernel) {
  return kernel.own ? "own bytes and FLOPs, ncu" : "share of the class's floor";
}

std::vector<KernelSavings> kernel_savings(const KernelRanking& ranking,
                                          const std::vector<OpenedKernel>& opened,
                                          const Budgets& budgets,
                                          const std::vector<StageSavings>& recoverable,
                                          const Roofline& roofline, const llm::GpuSpec* gpu) {
  std::vector<KernelSavings> result;
  const auto own = own_floors(ranking, roofline, gpu);
  for (const StageSavings& stage : recoverable) {
    const uint64_t instances = budgets.stages[stage.stage].instances;
    if (instances == 0) continue;
    const ClassFloors floors = floors_of(stage);
    for (size_t row = 0; row < opened.size(); ++row) {
      if (opened[row].stages.size() <= stage.stage) continue;
      const StageTime& in_stage = opened[row].stages[stage.stage];
      const Nanoseconds total = in_stage.steady_total;
      if (total == 0) continue;
      const ClassFloor& floor = floors[floor_group(ranking.rows[row].description.kernel_class)];
      const auto per_instance = [&](auto sum) {
        return static_cast<double>(sum) / static_cast<double>(instances);
      };
      KernelSavings& saved = result.emplace_back();
      saved.row = row;
      saved.stage = stage.stage;
      saved.most = stage.most;
      saved.time = per_instance(total);
      saved.own = own[row] && in_stage.steady_measured == in_stage.steady_calls;
      saved.floor = saved.own
                        ? std::min(saved.time, own[row]->each * per_instance(in_stage.steady_calls))
                        : saved.time * floor.floor_part;
      saved.floor_rule = saved.own ? own[row]->rule : floor.rule;
    }
  }
  std::ranges::stable_sort(result, std::greater(), &KernelSavings::recoverable);
  return result;
}

}  // namespace llmprof::analysis
