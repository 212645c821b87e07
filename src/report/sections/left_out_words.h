#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"

namespace llmprof::report {

// One sentence or two for each stage that statistics leave instances out of: which, how long, why.
// Not of an engine's steps.
std::vector<std::string> left_out_words(const profile::Profile& profile);

// Where a stage's mean misleads: the program's own clock may count a warm-up, or all that was
// recorded is a cold start. Empty where neither is so.
std::string mean_caveats(const profile::Profile& profile);

}  // namespace llmprof::report
