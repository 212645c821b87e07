#pragma once

#include "profile/profile.h"

namespace llmprof::report {

// Puts into a profile what profile.json says in words: analysis decides, only report/ words.
void word(profile::Profile& profile);

}  // namespace llmprof::report
