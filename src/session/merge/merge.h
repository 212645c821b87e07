#pragma once

#include "base/error.h"
#include "base/progress.h"
#include "session/analysis/analyze.h"

namespace llmprof::session {

// Makes the job's bundle of its ranks' partial profiles: what `analyze` makes of all captures, byte
// for byte. Inputs are partial profiles, and folders that hold them; a folder without one is
// analyzed: it may hold the ranks' captures.
Result<Analysis> merge(const AnalyzeOptions& options, Progress& progress);

}  // namespace llmprof::session
