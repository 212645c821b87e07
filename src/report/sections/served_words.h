#pragma once

#include <string>

#include "profile/profile.h"
#include "report/document.h"

namespace llmprof::report {

// What an engine's requests saw; nothing is added where that is not known.
void add_served(const profile::Profile& profile, Document& document);

// The same in a sentence, for the terminal; empty where it is not known.
std::string served_words(const profile::Profile& profile);

}  // namespace llmprof::report
