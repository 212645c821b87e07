#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "compare/gate/rule.h"

namespace llmprof::session {

struct GateRules {
  std::vector<compare::Rule> rules;
  double threshold = 0;  // relative
};

// `gates` are rules, or names of conf/gate/NAME.yaml, which hold `rules` and may hold `threshold`.
// `threshold` is what the user typed, and holds before that of a file.
Result<GateRules> load_gate_rules(const std::vector<std::string>& gates,
                                  const std::optional<std::string>& threshold,
                                  const std::optional<std::filesystem::path>& config_folder);

}  // namespace llmprof::session
