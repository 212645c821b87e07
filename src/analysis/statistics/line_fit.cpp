#include "analysis/statistics/line_fit.h"

namespace llmprof::analysis {

std::optional<FittedLine> fit_line(std::span<const MeasuredPoint> points) {
  if (points.empty()) return std::nullopt;
  const auto count = static_cast<double>(points.size());
  MeasuredPoint mean;
  for (const MeasuredPoint& point : points) {
    mean.x += point.x / count;
    mean.y += point.y / count;
  }
  double spread = 0;
  double together = 0;
  for (const MeasuredPoint& point : points) {
    spread += (point.x - mean.x) * (point.x - mean.x);
    together += (point.x - mean.x) * (point.y - mean.y);
  }
  if (spread <= 0) return std::nullopt;
  const double slope = together / spread;
  return FittedLine{mean.y - slope * mean.x, slope};
}

}  // namespace llmprof::analysis
