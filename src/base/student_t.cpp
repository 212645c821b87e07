#include "base/student_t.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace llmprof {

// A table: the quantile has no closed form, and no library of this program has it.
double student_t_975(double degrees_of_freedom) {
  // Quantiles of Student's distribution; between them the lower number of degrees counts, so that
  // an interval is rather too wide.
  constexpr std::array kUpTo30 = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                  2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                  2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                  2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  constexpr std::array<std::pair<double, double>, 4> kBeyond = {
      {{1000, 1.962}, {120, 1.980}, {60, 2.000}, {40, 2.021}}};
  for (const auto& [degrees, quantile] : kBeyond) {
    if (degrees_of_freedom >= degrees) return quantile;
  }
  const double whole =
      std::clamp(std::floor(degrees_of_freedom), 1.0, static_cast<double>(kUpTo30.size()));
  return kUpTo30[static_cast<size_t>(whole) - 1];
}

}  // namespace llmprof
