#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "job/rank_part.h"
#include "session/analysis/analyze.h"
#include "session/analysis/rank_traces.h"

namespace llmprof::session {

// The job's profile in words; the same whether its parts were just made or read from files.
Result<profile::Profile> job_profile(std::vector<job::RankPart> parts,
                                     const AnalyzeOptions& options, std::string_view version,
                                     Progress& progress);

// The same, and writes its bundle. `analysis` is what is known of it already, `traces` what the
// timeline and files for other viewers are made of.
Result<Analysis> write_job(std::vector<job::RankPart> parts, const RankTraces& traces,
                           const AnalyzeOptions& options, std::string_view version,
                           Progress& progress, OutputFolder& out, Analysis analysis);

}  // namespace llmprof::session
