#pragma once

#include "analysis/budget/budget.h"
#include "analysis/mfu/utilization.h"
#include "profile/reasons.h"

namespace llmprof::analysis {

// The least time that one part of a stage could take, with its rule.
struct Floor {
  double time = 0;  // ns
  profile::Reasons rule;
};

// Floors of one stage's parts, from the model's cost where it is known. Of an instance of which
// only some steps were traced, the parts are those steps', and so are the floors.
class StageFloors {
 public:
  // `mean` is the stage's budget, ns per instance, by part; `stage` is null where nothing is known.
  StageFloors(const StageUtilization* stage, const std::array<double, kBudgetParts>& mean,
              profile::Reasons why_no_model, trace::DeviceKind device = trace::DeviceKind::gpu);

  [[nodiscard]] Floor of(size_t part) const;

 private:
  [[nodiscard]] Floor of_products(size_t part) const;
  [[nodiscard]] Floor of_attention() const;
  [[nodiscard]] Floor as_it_is(size_t part, profile::ReasonKind why) const;
  [[nodiscard]] Floor without_floor(size_t part) const;

  const StageUtilization* stage_;
  const std::array<double, kBudgetParts>& mean_;
  profile::Reasons why_no_model_;
  trace::DeviceKind device_;
};

}  // namespace llmprof::analysis
