#pragma once

#include <string>
#include <vector>

#include "compare/gate/gate.h"
#include "compare/model/diff.h"
#include "compare/model/sides.h"

namespace llmprof::compare {

inline constexpr double kDefaultThreshold = 0.01;

struct CompareOptions {
  double threshold = kDefaultThreshold;  // relative
  std::vector<Rule> rules;
  std::string tool_version;
};

// Each side has at least one run. Texts stay empty: report/ writes them.
Diff compare(const Sides& sides, const CompareOptions& options);

}  // namespace llmprof::compare
