#pragma once

#include <string>

#include "profile/profile.h"

namespace llmprof::report {

// Of each stage the unwatched times are known.
bool all_unwatched(const profile::Profile& profile);

// Of any stage.
bool any_unwatched(const profile::Profile& profile);

// What tracing added to the stage is not known, and is in its times.
bool includes_tracing(const profile::Profile& profile, const profile::Stage& stage);

// Whose times the report shows, how they were obtained, and what tracing added, or that this is not
// known; empty without stages.
std::string times_words(const profile::Profile& profile);

// The same for the budget of one stage: what of it is recorded, and what scaled.
std::string budget_basis_words(const profile::Stage& stage);

}  // namespace llmprof::report
