#pragma once

#include <vector>

#include "profile/profile.h"

namespace llmprof::profile {

// Whether a diagnostic means that work of the program (kernels, operators, names, entire captures)
// is missing from the profile, so that its times and counts are too low. Decided by code, from one
// closed list, because profiles of earlier versions have nothing else. A code of a later version is
// a loss if it is an error. `kernel_source` is Totals::source: damage to ncu's launches matters
// only if times are from ncu.
bool means_lost_data(const Diagnostic& diagnostic, KernelSource kernel_source);

// Everything that is missing from a profile and makes it unfit to measure the program. Besides
// diagnostics, includes failed or interrupted recordings, with the code "capture_failed".
std::vector<Diagnostic> lost_data(const Profile& profile);

}  // namespace llmprof::profile
