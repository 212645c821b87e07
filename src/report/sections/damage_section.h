#pragma once

#include "profile/profile.h"
#include "report/document.h"

namespace llmprof::report {

// Whether a part of an input could not be read, so that what is missing may have been in it.
bool is_damaged(const profile::Profile& profile);

// What could not be read, as the first that a report says; nothing where all could.
void add_damage(const profile::Profile& profile, Document& document);

// Whether that says it already.
bool is_damage(const profile::Profile& profile, const profile::Diagnostic& diagnostic);

}  // namespace llmprof::report
