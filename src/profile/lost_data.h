#pragma once

#include <vector>

#include "profile/profile.h"

namespace llmprof::profile {

// Whether a diagnostic says that work of the program (kernels, operators, names, whole captures) is
// missing from the profile, so that its times and counts are too low. By code, in one closed list:
// profiles of earlier versions have nothing else. One of a later version is a loss if it is an
// error. `kernel_source` is Totals::source: damage to ncu's launches matters where times are ncu's.
bool means_lost_data(const Diagnostic& diagnostic, KernelSource kernel_source);

// All that is missing from a profile; what makes it no measure of the program. Besides diagnostics,
// recordings that failed or were interrupted, with the code "capture_failed".
std::vector<Diagnostic> lost_data(const Profile& profile);

}  // namespace llmprof::profile
