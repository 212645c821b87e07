#pragma once

#include <string>

#include "profile/profile.h"

namespace llmprof::report {

// "rank3-4711.llmtrace (llmprof log, llmprof collector 0.1.0, rank 3)"
std::string capture_words(const profile::Capture& capture);
// All captures of a profile, as a sentence.
std::string captures_sentence(const profile::Profile& profile);

}  // namespace llmprof::report
