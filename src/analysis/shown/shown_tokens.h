#pragma once

#include "profile/profile.h"

namespace llmprof::analysis::shown {

// Of a profile whose stages have what is shown of them.
profile::TokenTimesShown shown_token_times(const profile::Profile& profile);

}  // namespace llmprof::analysis::shown
