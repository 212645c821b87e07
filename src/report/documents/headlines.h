#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace llmprof::report {

// A figure that a reader sees first: a tile of report.html.
struct Headline {
  struct Beside {
    std::string words;  // "traced", "not profiled", "of all sequences"
    std::string text;   // "27.507 ms"
    std::optional<double> exact;
  };
  std::string name;             // "time to first token"
  std::string text;             // "13.966", "0.800 to 15.200", "up to 1.200"
  std::optional<double> exact;  // as profile.json has it; of a range the mean
  std::string unit;             // "ms", "tokens/s"; empty where the text has it
  std::string of;               // "mean of 3 prefills, without tracing"
  std::optional<Beside> beside;
};

std::vector<Headline> headlines(const profile::Profile& profile);

}  // namespace llmprof::report
