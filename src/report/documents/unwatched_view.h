#pragma once

#include "profile/profile.h"

namespace llmprof::report {

// The profile as reports show it: where the program's own times are known, wall times, budgets and
// what follows from them (idle and busy shares, token times, MFU and MBU over wall time) are those
// of the unwatched program. What a mean is taken over keeps its recorded spread, scaled with the
// mean. Instances, steps and gaps stay as recorded.
profile::Profile unwatched_view(const profile::Profile& profile);

// Whether its unwatched times are known and it was recorded in windows of tracing: its instances
// then run over what was not traced, and have pieces of their steps.
bool recorded_in_windows(const profile::Stage& stage);

}  // namespace llmprof::report
