#include "report/findings/per_unit.h"

namespace llmprof::report {

std::string per_unit(const profile::Finding& finding) {
  if (!finding.unit) return {};
  if (finding.unit->starts_with("traced part of ")) return "in the " + *finding.unit;
  return "per " + *finding.unit;
}

}  // namespace llmprof::report
