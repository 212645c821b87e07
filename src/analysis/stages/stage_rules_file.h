#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/stages/stage_rules.h"

namespace llmprof::analysis {

// One rule of a stages.yaml; `place` is "stages.yaml:12: rule 3".
struct StageRule {
  std::string place;
  std::string expression;
  std::optional<std::string> domain;
  RangeMeaning means;        // kind, name, part and step_kind
  bool speculative = false;  // an engine's step verifies drafted tokens
  StepKeys values;
};

struct IgnoredDomain {
  std::string place;
  std::string expression;
};

struct StageRulesFile {
  std::vector<StageRule> rules;
  std::vector<IgnoredDomain> ignored_domains;
};

// Appends a file's rules. A mistake is a Failure of kind usage that names the file and the line.
void read_stage_rules(const config::ConfText& source, StageRulesFile& into);
// Same for the `annotations` of an engine's file.
void read_engine_annotations(const config::ConfText& source, StageRulesFile& into);

}  // namespace llmprof::analysis
