#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/error.h"
#include "base/progress.h"
#include "job/rank_part.h"
#include "session/analysis/analyze.h"
#include "session/bundle/inputs.h"
#include "session/bundle/records.h"

namespace llmprof::session {

// What is read of one rank.
struct RankInputs {
  uint64_t rank = 0;
  std::vector<Input> inputs;  // empty of a rank that only ranks.json knows
};

// The inputs of a distributed job.
struct JobInputs {
  std::vector<RankInputs> ranks;  // by rank; empty where no capture says its rank
  RanksRecord record;
  Diagnostics notes;  // what is not read, and why

  [[nodiscard]] bool several() const { return ranks.size() > 1; }
};

// A timeline belongs to its rank; other inputs (metrics of ncu, the workload's own) belong to all
// ranks. `paths` is what the user named: folders may hold a ranks.json.
JobInputs inputs_by_rank(const std::vector<Input>& inputs, const std::vector<fs::path>& paths);

// The same where there may be several ranks; a file alone is not looked at.
JobInputs inputs_of_job(const std::vector<Input>& inputs, const std::vector<fs::path>& paths);

// Each rank by itself, one after the other: the traces of two are in memory together only where
// they are kept, in `traces`. A rank that cannot be analyzed is a part without captures. An error
// where none can. Timings, and why a rank or an input could not be read where others could, are
// added to `analysis`.
std::vector<job::RankPart> analyze_ranks(const AnalysisPlan& plan, const JobInputs& job,
                                         const AnalyzeOptions& options, Progress& progress,
                                         OutputFolder& out, KeptTraces* traces, Analysis& analysis);

// Adds the job's profile in words to what is known of the analysis already; the same whether its
// parts were just made or read from files.
Analysis job_profile(std::vector<job::RankPart> parts, const AnalyzeOptions& options,
                     Progress& progress, Analysis analysis);

}  // namespace llmprof::session
