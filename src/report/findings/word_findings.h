#pragma once

#include "profile/profile.h"

namespace llmprof::report {

// Fills title, evidence and advice of all findings from their kinds and values; advice that
// analysis took from conf/engines stays. Of a kind that is not known, or with values missing, the
// words stay as they are: a file of another version has its own.
void word_findings(profile::Profile& profile);

}  // namespace llmprof::report
