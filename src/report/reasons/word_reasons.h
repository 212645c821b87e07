#pragma once

#include <optional>
#include <string>

#include "profile/profile.h"

namespace llmprof::report {

// The reasons as one clause: "no stages were found", "...; ...". None if there are no reasons, or
// if one is of an unknown kind or lacks a value: a file of another version has its own words.
std::optional<std::string> reason_words(const profile::Reasons& reasons);

// Fills all texts of a profile that also have reasons. Texts without reasons stay.
void word_reasons(profile::Profile& profile);

// Fills title, evidence and advice of all findings from their kinds and values; advice that
// analysis took from conf/engines stays. If the kind is unknown or values are missing, the existing
// words stay: a file of another version has its own.
void word_findings(profile::Profile& profile);

}  // namespace llmprof::report
