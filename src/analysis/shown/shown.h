#pragma once

#include "profile/profile.h"

namespace llmprof::analysis {

// The last step of an analysis, and of a file of an earlier llmprof: `shown` of stages and token
// times, which is all that reports and the page show of them. Where the program's own times are
// known, wall times, budgets and what follows from them are those of the program without tracing.
void add_shown(profile::Profile& profile);

}  // namespace llmprof::analysis
