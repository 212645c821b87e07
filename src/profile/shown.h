#pragma once

#include <string>
#include <string_view>

#include "profile/quantity.h"

namespace llmprof::profile {

// What stands for some durations.
inline constexpr std::string_view kTypicalMean = "mean";
inline constexpr std::string_view kTypicalRange = "range";
inline constexpr std::string_view kTypicalMedian = "median";

struct ShownTimes : Statistics<Milliseconds> {
  std::string typical = std::string(kTypicalMean);

  static void fields(auto& field) {
    Statistics<Milliseconds>::fields(field);
    field("typical", &ShownTimes::typical,
          "what stands for them: mean; where that says little of single values (std above 0.25 of "
          "it, or max above 1.5 times min of two or three), the range of two or three values, or "
          "the median of more");
  }
};

}  // namespace llmprof::profile
