#include "analysis/recoverable/kernel_recoverable.h"

#include <algorithm>
#include <array>
#include <optional>

#include "analysis/recoverable/own_floor.h"

namespace llmprof::analysis {
namespace {

// The matrix products of gemm and gemv share one floor; all other classes have their own.
size_t floor_group(KernelClass kernel_class) {
  return static_cast<size_t>(kernel_class == KernelClass::gemv ? KernelClass::gemm : kernel_class);
}

struct ClassFloor {
  double floor_part = 0;  // of that time, 0 to 1
  profile::Reasons rule;
};
using ClassFloors = std::array<ClassFloor, kClassParts>;

ClassFloors floors_of(const StageRecoverable& stage) {
  ClassFloors floors;
  std::array<double, kClassParts> charged{};
  std::array<double, kClassParts> least{};
  for (const RecoverablePart& part : stage.parts) {
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

std::string_view floor_basis(const KernelRecoverable& kernel) {
  return kernel.own ? "own bytes and FLOPs, ncu" : "share of the class's floor";
}

std::vector<KernelRecoverable> kernel_recoverable(const KernelRanking& ranking,
                                                  const std::vector<OpenedKernel>& opened,
                                                  const Budgets& budgets,
                                                  const std::vector<StageRecoverable>& recoverable,
                                                  const Roofline& roofline,
                                                  const llm::GpuSpec* gpu) {
  std::vector<KernelRecoverable> result;
  const auto own = own_floors(ranking, roofline, gpu);
  for (const StageRecoverable& stage : recoverable) {
    const uint64_t instances = budgets.stages[stage.stage].instances;
    if (instances == 0) continue;
    const ClassFloors floors = floors_of(stage);
    for (size_t row = 0; row < opened.size(); ++row) {
      if (opened[row].stages.size() <= stage.stage) continue;
      const StageTime& in_stage = opened[row].stages[stage.stage];
      const Nanoseconds total = in_stage.steady_total;
      if (total == 0) continue;
      const ClassFloor& floor = floors[floor_group(ranking.rows[row].description.kernel_class)];
      const double time = static_cast<double>(total) / static_cast<double>(instances);
      if (own[row] && in_stage.steady_measured == in_stage.steady_calls) {
        const double launches =
            static_cast<double>(in_stage.steady_calls) / static_cast<double>(instances);
        result.push_back({row, stage.stage, time, std::min(time, own[row]->each * launches),
                          own[row]->rule, true, stage.most});
      } else {
        result.push_back(
            {row, stage.stage, time, time * floor.floor_part, floor.rule, false, stage.most});
      }
    }
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const KernelRecoverable& a, const KernelRecoverable& b) {
                     return a.recoverable() > b.recoverable();
                   });
  return result;
}

}  // namespace llmprof::analysis
