#pragma once

#include "profile/profile.h"

namespace llmprof::analysis {

// The last step of an analysis, and of reading a file from an earlier llmprof: sets `shown` of
// stages and token times, the only figures of them that reports and the page show. If the program's
// untraced times are known, wall times, budgets and derived figures are untraced.
void add_shown(profile::Profile& profile);

// The same for a profile that was read, if an earlier llmprof wrote it; returns whether it did.
bool complete_shown(profile::Profile& profile);

}  // namespace llmprof::analysis
