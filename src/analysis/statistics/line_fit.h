#pragma once

#include <optional>
#include <span>

namespace llmprof::analysis {

struct MeasuredPoint {
  double x = 0;
  double y = 0;
};

struct FittedLine {
  double intercept = 0;
  double slope = 0;

  [[nodiscard]] double at(double x) const { return intercept + slope * x; }
};

// Least squares. None if the points do not have at least two different x.
std::optional<FittedLine> fit_line(std::span<const MeasuredPoint> points);

}  // namespace llmprof::analysis
