#pragma once

#include <string>

#include "profile/profile.h"

namespace llmprof::report {

// Why something is missing, as clauses.
std::string why_no_stages(const profile::Profile& profile);
std::string why_no_utilization(const profile::Profile& profile);
std::string why_no_operators(const profile::Profile& profile);
std::string why_no_findings(const profile::Profile& profile);
// That there are no stages, and why, as a sentence.
std::string no_stages_words(const profile::Profile& profile);

}  // namespace llmprof::report
