#pragma once

#include "base/error.h"
#include "profile/profile.h"
#include "trace/trace.h"

namespace llmprof::session {

// Why a trace holds no kernels to rank, and what to record instead, from what the readers noticed.
// `list_failures` adds the captures that failed; a run reports those itself.
Error no_kernels(const trace::Trace& trace, const profile::Profile& profile, bool list_failures);

}  // namespace llmprof::session
