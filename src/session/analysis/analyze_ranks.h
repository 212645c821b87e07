#pragma once

#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "job/rank_part.h"
#include "session/analysis/analyze.h"
#include "session/analysis/rank_inputs.h"

namespace llmprof::session {

// Each rank by itself, one after the other: the traces of two are in memory together only where
// they are kept, in `traces`. A rank that cannot be analyzed is a part without captures. An error
// where none can. Timings, and why a rank or an input could not be read where others could, are
// added to `analysis`.
Result<std::vector<job::RankPart>> analyze_ranks(const AnalysisPlan& plan, const JobInputs& job,
                                                 const AnalyzeOptions& options, Progress& progress,
                                                 OutputFolder& out, KeptTraces* traces,
                                                 Analysis& analysis);

// Adds the job's profile in words to what is known of the analysis already; the same whether its
// parts were just made or read from files.
Result<Analysis> job_profile(std::vector<job::RankPart> parts, const AnalyzeOptions& options,
                             Progress& progress, Analysis analysis);

}  // namespace llmprof::session
