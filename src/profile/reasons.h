#pragma once

#include <string>
#include <vector>

#include "profile/finding_values.h"
#include "profile/reason_kinds.h"

namespace llmprof::profile {

// Why a figure is missing, what it was computed from, or by which rule: a kind, and the values in
// the sentence next to it.
struct Reason {
  ReasonKind kind{};
  std::vector<FindingValue> values;

  static void fields(auto& field) {
    field("kind", &Reason::kind, "stable kind, for scripts");
    field("values", &Reason::values, "values in the sentence, by name");
  }
};

// In the order of the sentence.
using Reasons = std::vector<Reason>;

inline Reason make_reason(ReasonKind kind, FindingValues values = {}) {
  return {kind, std::move(values).take()};
}

}  // namespace llmprof::profile
