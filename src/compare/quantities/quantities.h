#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/likeness/comparable_steps.h"
#include "compare/model/diff.h"
#include "compare/model/sides.h"
#include "compare/quantities/judging.h"
#include "compare/statistics/estimate.h"

namespace llmprof::compare {

// All comparisons of one stage; comparable values are found once.
class StageQuantities {
 public:
  StageQuantities(const Sides& sides, std::string stage, const Judging& judging,
                  std::vector<LeftOut>& left_out);

  [[nodiscard]] const std::string& stage() const { return stage_; }
  [[nodiscard]] const std::vector<StepGroup>& groups() const { return steps_.groups; }
  [[nodiscard]] bool has_steps() const { return !steps_.groups.empty(); }
  // Kernel classes that some run has in this stage, by name.
  [[nodiscard]] const std::vector<profile::KernelClass>& classes() const { return classes_; }

  // None if a side does not have the quantity.
  [[nodiscard]] std::optional<Comparison> compare(ComparedQuantity quantity,
                                                  Statistic statistic) const;
  // All comparisons in diff.json.
  [[nodiscard]] std::vector<Comparison> compare_all() const;

 private:
  // Without a verdict.
  [[nodiscard]] std::optional<Comparison> measure(ComparedQuantity quantity,
                                                  Statistic statistic) const;
  [[nodiscard]] std::optional<Comparison> recorded(ComparedQuantity quantity,
                                                   Statistic statistic) const;
  [[nodiscard]] std::optional<Comparison> untraced(Statistic statistic) const;
  // The wall time that is known without profiling.
  [[nodiscard]] ComparedQuantity untraced_quantity() const;
  [[nodiscard]] std::optional<Comparison> from_wall(ComparedQuantity quantity) const;
  // A step's wall time, otherwise an instance's.
  [[nodiscard]] std::optional<Comparison> wall_time() const;
  // Widened by the assumed difference of single runs.
  [[nodiscard]] std::optional<Comparison> widened(std::optional<Comparison> found) const;
  [[nodiscard]] bool is_of_steps(ComparedQuantity quantity) const;
  [[nodiscard]] SingleRuns::Composition composition_of(const Comparison& comparison) const;
  [[nodiscard]] Comparison judged(Comparison comparison) const;

  const Sides& sides_;
  std::string stage_;
  const Judging& judging_;
  bool serving_ = false;
  bool untraced_ = false;
  ComparableSteps steps_;
  ComparableInstances instances_;
  std::vector<profile::KernelClass> classes_;
  SingleRuns::Composition of_steps_;  // without what differs between quantities
  SingleRuns::Composition of_instances_;
};

}  // namespace llmprof::compare
