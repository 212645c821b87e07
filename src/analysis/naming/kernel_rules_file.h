#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/naming/classes.h"
#include "analysis/naming/short_name.h"
#include "config/conf_files.h"

namespace llmprof::analysis {

// The `class` of a rule for kernels with their operators in their names (torch.compile).
inline constexpr std::string_view kByFusedOperations = "by fused operations";

// One rule of a kernels.yaml; all ways of matching become one RE2 expression.
struct KernelRule {
  std::string expression;
  std::string library;
  std::optional<KernelClass> kernel_class;  // none: by the operations in the kernel's name
  std::string name;                         // the template's text
  std::string place;                        // "kernels.yaml:12: rule 3", for messages
  bool shipped = false;                     // built into the program
};

// Names with this prefix belong to this library unless their rule names one.
struct LibraryPrefix {
  std::string prefix;
  std::string library;
};

// What matching names show, whatever their class: a trait, a number format or a collective.
struct TraitRule {
  std::variant<KernelTrait, std::string, CollectiveKind> shown;
  std::string expression;
  std::string place;
};

struct KernelRulesFile {
  std::vector<KernelRule> rules;
  std::vector<TraitRule> traits;
  std::vector<LibraryPrefix> libraries;
  FusedOperators operators;
};

// Appends a file's rules; operations that are already there are kept. Throws Failure.
void read_kernel_rules(const config::ConfText& source, KernelRulesFile& into);

}  // namespace llmprof::analysis
