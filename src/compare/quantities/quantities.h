#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/likeness/comparable_steps.h"
#include "compare/model/diff.h"
#include "compare/model/sides.h"
#include "compare/quantities/judging.h"
#include "compare/statistics/estimate.h"

namespace llmprof::compare {

// Quantities of steps, instances and wall time; the time of a kernel class is an additional one.
inline constexpr std::string_view kClass = "class.";
inline constexpr std::array<std::string_view, 11> kAllQuantities = {
    "step", "step_busy", "step_idle",    "step_kernels", "wall", "busy",
    "idle", "kernels",   "tokens_per_s", "mfu",          "mbu"};
inline bool is_from_wall(std::string_view quantity) {
  return quantity == "tokens_per_s" || quantity == "mfu" || quantity == "mbu";
}

// All comparisons of one stage; comparable values are found once.
class StageQuantities {
 public:
  StageQuantities(const Sides& sides, std::string stage, const Judging& judging,
                  std::vector<LeftOut>& left_out);

  [[nodiscard]] const std::string& stage() const { return stage_; }
  [[nodiscard]] const std::vector<StepGroup>& groups() const { return steps_.groups; }
  [[nodiscard]] bool has_steps() const { return !steps_.groups.empty(); }
  // Kernel classes that some run has in this stage.
  [[nodiscard]] const std::vector<std::string>& classes() const { return classes_; }

  // None if a side does not have the quantity. `quantity` as in Comparison.
  [[nodiscard]] std::optional<Comparison> compare(std::string_view quantity,
                                                  Statistic statistic) const;
  // All comparisons in diff.json.
  [[nodiscard]] std::vector<Comparison> compare_all() const;

 private:
  // Without a verdict.
  [[nodiscard]] std::optional<Comparison> measure(std::string_view quantity,
                                                  Statistic statistic) const;
  [[nodiscard]] std::optional<Comparison> recorded(std::string_view quantity,
                                                   Statistic statistic) const;
  [[nodiscard]] std::optional<Comparison> untraced(Statistic statistic) const;
  [[nodiscard]] std::optional<Comparison> from_wall(std::string_view quantity) const;
  // A step's wall time, otherwise an instance's.
  [[nodiscard]] std::optional<Comparison> wall_time() const;
  // Widened by the assumed difference of single runs.
  [[nodiscard]] std::optional<Comparison> widened(std::optional<Comparison> found) const;
  [[nodiscard]] bool is_of_steps(std::string_view quantity) const;
  [[nodiscard]] SingleRuns::Made made_of(const Comparison& comparison) const;
  [[nodiscard]] Comparison judged(Comparison comparison) const;

  const Sides& sides_;
  std::string stage_;
  const Judging& judging_;
  bool serving_ = false;
  bool untraced_ = false;
  ComparableSteps steps_;
  ComparableInstances instances_;
  std::vector<std::string> classes_;
  SingleRuns::Made of_steps_;  // without what differs between quantities
  SingleRuns::Made of_instances_;
};

}  // namespace llmprof::compare
