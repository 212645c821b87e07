#pragma once

#include <utility>

#include "analysis/shown/shown.h"

namespace llmprof::testing {

// A hand-made profile with the values that analysis computes at its end. Tests that include it link
// llmprof_analysis (TESTS_DEPEND of llmprof_module).
inline profile::Profile shown(profile::Profile profile) {
  analysis::add_shown(profile);
  return profile;
}

}  // namespace llmprof::testing
