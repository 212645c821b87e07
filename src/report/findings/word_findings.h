#pragma once

#include "profile/profile.h"

namespace llmprof::report {

// Fills title, evidence and advice of all findings from their kinds and values; advice that
// analysis took from conf/engines stays. If the kind is unknown or values are missing, the existing
// words stay: a file of another version has its own.
void word_findings(profile::Profile& profile);

}  // namespace llmprof::report
