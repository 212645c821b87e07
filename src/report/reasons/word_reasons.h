#pragma once

#include <optional>
#include <string>

#include "profile/profile.h"

namespace llmprof::report {

// The reasons as one clause: "no stages were found", "...; ...". None where there are none, and
// where one is of a kind that is not known or lacks a value: a file of another version has its own
// words.
std::optional<std::string> reason_words(const profile::Reasons& reasons);

// Fills all texts of a profile that are told as reasons, too. Texts without reasons stay.
void word_reasons(profile::Profile& profile);

}  // namespace llmprof::report
