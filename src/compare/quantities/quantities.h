#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/likeness/like_steps.h"
#include "compare/model/diff.h"
#include "compare/model/sides.h"
#include "compare/statistics/series.h"

namespace llmprof::compare {

// All that can be compared of one stage: which values are alike is found once.
class StageQuantities {
 public:
  StageQuantities(const Sides& sides, std::string stage, std::vector<LeftOut>& left_out);

  [[nodiscard]] const std::string& stage() const { return stage_; }
  [[nodiscard]] const std::vector<StepGroup>& groups() const { return steps_.groups; }
  [[nodiscard]] bool has_steps() const { return !steps_.groups.empty(); }
  // Kernel classes that some run has in this stage.
  [[nodiscard]] const std::vector<std::string>& classes() const { return classes_; }

  // None where a side has no such quantity. `quantity` as in Comparison.
  [[nodiscard]] std::optional<Comparison> compare(std::string_view quantity, Statistic statistic,
                                                  double threshold) const;
  // All that diff.json has.
  [[nodiscard]] std::vector<Comparison> compare_all(double threshold) const;

 private:
  [[nodiscard]] std::optional<Comparison> of_steps(std::string_view quantity,
                                                   Statistic statistic) const;
  [[nodiscard]] std::optional<Comparison> of_instances(std::string_view quantity,
                                                       Statistic statistic) const;
  [[nodiscard]] std::optional<Comparison> unwatched(Statistic statistic) const;
  [[nodiscard]] std::optional<Comparison> from_wall(std::string_view quantity,
                                                    double threshold) const;

  const Sides& sides_;
  std::string stage_;
  bool serving_ = false;
  bool unwatched_ = false;
  LikeSteps steps_;
  LikeInstances instances_;
  std::vector<std::string> classes_;
};

// Fills relative values, the answer, what could have been seen and how many runs would do.
void judge(double threshold, Comparison& comparison);

}  // namespace llmprof::compare
