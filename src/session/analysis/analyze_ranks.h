#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "job/rank_part.h"
#include "session/analysis/analyze_options.h"
#include "session/analysis/plan.h"
#include "session/analysis/rank_inputs.h"
#include "session/analysis/rank_traces.h"
#include "session/analysis/timings.h"
#include "session/bundle/output_folder.h"

namespace llmprof::session {

struct AnalyzedRanks {
  std::vector<job::RankPart> parts;  // by rank
  std::optional<Error> incomplete;  // a rank or an input that could not be read, where others could
  std::vector<PartTiming> timings;
  RankTraces traces;  // where they are kept
};

enum class Traces : uint8_t { keep, drop };

// Each rank by itself, one after the other: the traces of two are in memory together only where
// they are kept. A rank that cannot be analyzed is a part without captures. An error where none
// can.
Result<AnalyzedRanks> analyze_ranks(const AnalysisPlan& plan, const JobInputs& job,
                                    const AnalyzeOptions& options, Traces traces,
                                    std::string_view version, Progress& progress,
                                    OutputFolder& out);

}  // namespace llmprof::session
