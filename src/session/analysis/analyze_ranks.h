#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/diagnostics.h"
#include "base/error.h"
#include "base/progress.h"
#include "job/rank_part.h"
#include "session/analysis/analyze.h"
#include "session/bundle/inputs.h"
#include "session/bundle/records.h"

namespace llmprof::session {

// The inputs of one rank.
struct RankInputs {
  uint64_t rank = 0;
  std::vector<Input> inputs;  // empty for a rank that only ranks.json lists
};

// The inputs of a distributed job.
struct JobInputs {
  std::vector<RankInputs> ranks;  // by rank; empty if no capture names its rank
  RanksRecord record;
  Diagnostics notes;  // skipped inputs, with the reason

  [[nodiscard]] bool several() const { return ranks.size() > 1; }
};

// A timeline belongs to its rank; other inputs (ncu metrics, the workload's own) belong to all
// ranks. `paths` are the paths that the user named: folders may contain a ranks.json.
JobInputs inputs_by_rank(const std::vector<Input>& inputs, const std::vector<fs::path>& paths);

// The same, but empty if there can only be one rank; ranks are then not read.
JobInputs inputs_of_job(const std::vector<Input>& inputs, const std::vector<fs::path>& paths);

// Analyzes the ranks one after the other, so that only one trace is in memory unless `traces` keeps
// them. A rank that cannot be analyzed becomes a part without captures; if none can be, this is an
// error. Adds timings to `analysis`, and why a rank or an input could not be read although others
// could.
std::vector<job::RankPart> analyze_ranks(const AnalysisPlan& plan, const JobInputs& job,
                                         const AnalyzeOptions& options, Progress& progress,
                                         OutputFolder& out, KeptTraces* traces, Analysis& analysis);

// Adds the job's profile and its text to `analysis`; the same whether the parts were just made or
// read from files.
Analysis job_profile(std::vector<job::RankPart> parts, const AnalyzeOptions& options,
                     Progress& progress, Analysis analysis);

}  // namespace llmprof::session
