#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/likeness/comparable_steps.h"
#include "compare/model/diff.h"
#include "compare/model/sides.h"
#include "compare/noise/single_runs.h"
#include "compare/statistics/estimate.h"

namespace llmprof::compare {

// Of a step, of an instance, and of the wall time; besides them, the time of a kernel class.
inline constexpr std::string_view kClass = "class.";
inline constexpr std::array<std::string_view, 11> kAllQuantities = {
    "step", "step_busy", "step_idle",    "step_kernels", "wall", "busy",
    "idle", "kernels",   "tokens_per_s", "mfu",          "mbu"};
inline bool is_from_wall(std::string_view quantity) {
  return quantity == "tokens_per_s" || quantity == "mfu" || quantity == "mbu";
}

// By which rules figures become answers.
struct Judging {
  double threshold = 0;              // relative
  std::optional<SingleRuns> single;  // where both sides are one run
  std::optional<NoAnswer> withheld;  // why nothing is claimed
  bool recorded_alike = true;        // by the same tool, with the same kernels to be seen
  bool own_peaks = false;            // utilization of different GPUs, each of its own peak
};

// All that can be compared of one stage: which values are alike is found once.
class StageQuantities {
 public:
  StageQuantities(const Sides& sides, std::string stage, const Judging& judging,
                  std::vector<LeftOut>& left_out);

  [[nodiscard]] const std::string& stage() const { return stage_; }
  [[nodiscard]] const std::vector<StepGroup>& groups() const { return steps_.groups; }
  [[nodiscard]] bool has_steps() const { return !steps_.groups.empty(); }
  // Kernel classes that some run has in this stage.
  [[nodiscard]] const std::vector<std::string>& classes() const { return classes_; }

  // None where a side has no such quantity. `quantity` as in Comparison.
  [[nodiscard]] std::optional<Comparison> compare(std::string_view quantity,
                                                  Statistic statistic) const;
  // All that diff.json has.
  [[nodiscard]] std::vector<Comparison> compare_all() const;

 private:
  // Without an answer yet.
  [[nodiscard]] std::optional<Comparison> measure(std::string_view quantity,
                                                  Statistic statistic) const;
  [[nodiscard]] std::optional<Comparison> recorded(std::string_view quantity,
                                                   Statistic statistic) const;
  [[nodiscard]] std::optional<Comparison> unwatched(Statistic statistic) const;
  [[nodiscard]] std::optional<Comparison> from_wall(std::string_view quantity) const;
  // A step's wall time, else that of an instance.
  [[nodiscard]] std::optional<Comparison> wall_time() const;
  // By what single runs may differ by.
  [[nodiscard]] std::optional<Comparison> widened(std::optional<Comparison> found) const;
  [[nodiscard]] bool is_of_steps(std::string_view quantity) const;
  [[nodiscard]] SingleRuns::Made made_of(const Comparison& comparison) const;
  [[nodiscard]] Comparison judged(Comparison comparison) const;

  const Sides& sides_;
  std::string stage_;
  const Judging& judging_;
  bool serving_ = false;
  bool unwatched_ = false;
  ComparableSteps steps_;
  ComparableInstances instances_;
  std::vector<std::string> classes_;
  SingleRuns::Made of_steps_;  // without what differs from quantity to quantity
  SingleRuns::Made of_instances_;
};

// Fills relative values, the answer, what could have been seen and how many runs would do.
void judge(double threshold, Comparison& comparison);

// Takes back whatever it says of a change; its figures stay.
void withhold(Comparison& comparison);

}  // namespace llmprof::compare
