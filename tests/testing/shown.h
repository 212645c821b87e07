#pragma once

#include <utility>

#include "analysis/shown/shown.h"

namespace llmprof::testing {

// A profile made by hand, completed as an analysis ends. Whoever includes it links llmprof_analysis
// (TESTS_DEPEND of llmprof_module).
inline profile::Profile shown(profile::Profile profile) {
  analysis::add_shown(profile);
  return profile;
}

}  // namespace llmprof::testing
