#pragma once

#include <optional>
#include <span>

namespace llmprof::analysis {

struct Point {
  double x = 0;
  double y = 0;
};

struct Line {
  double intercept = 0;
  double slope = 0;

  [[nodiscard]] double at(double x) const { return intercept + slope * x; }
};

// Least squares. None if the points do not have at least two different x.
std::optional<Line> fit_line(std::span<const Point> points);

}  // namespace llmprof::analysis
