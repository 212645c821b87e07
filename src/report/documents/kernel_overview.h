#pragma once

#include <cstddef>

#include "profile/profile.h"
#include "report/document.h"

namespace llmprof::report {

// The short version of a profile, for the terminal: stages, the `top` longest kernels, what to fix
// first, and what the reader must know about the input.
Document kernel_overview(const profile::Profile& profile, size_t top);

}  // namespace llmprof::report
