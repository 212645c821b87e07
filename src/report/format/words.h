#pragma once

#include <string>
#include <string_view>

#include "profile/profile.h"

namespace llmprof::report {

// What reports say for the closed sets of names in profile.json: a table each, which the compiler
// refuses where a value has no text.
std::string_view in_words(profile::Scope scope);             // "measured stages"
std::string_view in_words(profile::WarmupReason reason);     // "longer than the later ones"
std::string_view in_words(profile::UnwatchedSource source);  // "timed ... in an untraced run"
std::string_view in_words(profile::NotUnwatched reason);     // "no untraced run was timed"
std::string_view in_words(profile::WhyNoFlops reason);       // "no tensor activity"
std::string_view in_words(profile::ClockMethod method);      // "the same clock"
std::string_view in_words(profile::StragglerCause cause);    // "late launches"
std::string_view in_words(profile::OtherCause cause);        // "within the spread of ..."

// A cell of a table that shows a name as profile.json spells it.
template <profile::Vocabulary Enum>
std::string spelled(Enum value) {
  return std::string(to_string(value));
}

}  // namespace llmprof::report
