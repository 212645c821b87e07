#pragma once

#include "profile/profile.h"
#include "report/document.h"

namespace llmprof::report {

// For the terminal: a line per stage with its largest parts, and what to fix first.
void add_stage_overview(const profile::Profile& profile, Document& document);
void add_finding_overview(const profile::Profile& profile, Document& document);

}  // namespace llmprof::report
