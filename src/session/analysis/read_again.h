#pragma once

#include <filesystem>
#include <string_view>

#include "analysis/passes/results.h"
#include "base/error.h"
#include "base/progress.h"
#include "profile/profile.h"
#include "session/analysis/rank_traces.h"
#include "trace/trace.h"

namespace llmprof::session {

// The captures behind a profile, read and analyzed once more: for what is made of single events,
// which profile.json does not hold.
struct ReadAgain {
  trace::Trace trace;  // empty of a job
  analysis::Results results;
  RankTraces ranks;  // of a job
};

// Of a run's folder its captures; of another folder those that its profile names, if they are still
// there. What they give must be what the profile tells, else it is an error.
Result<ReadAgain> read_again(const std::filesystem::path& folder, const profile::Profile& profile,
                             std::string_view version, Progress& progress);

}  // namespace llmprof::session
