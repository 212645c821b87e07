#pragma once

#include <string>
#include <string_view>

#include "analysis/passes/results.h"
#include "job/job_clock.h"
#include "profile/job.h"
#include "trace/trace.h"

namespace llmprof::exports {

// What files for other viewers are made of: an analyzed trace and what the passes found in it.
struct ExportSource {
  const trace::Trace& trace;
  const analysis::Results& results;
  std::string_view tool_version;  // of llmprof
};

// One rank of a job, read and analyzed by itself, and how its clock is brought to the job's. Files
// that hold several show them in the order given.
struct RankSource {
  std::string label;  // "rank 3": unique in the job
  const trace::Trace& trace;
  const analysis::Results& results;
  profile::RankClock clock;
};

// What one file's parts are made of: the only source, or one rank of several.
struct PlacedSource {
  const trace::Trace& trace;
  const analysis::Results& results;
  std::string_view rank;  // its label; empty where the file is of no job
  job::JobClock clock;    // of its trace's times
};

inline PlacedSource placed(const ExportSource& source) {
  return {source.trace, source.results, {}, {}};
}
inline PlacedSource placed(const RankSource& source) {
  return {source.trace, source.results, source.label, job::JobClock(source.clock)};
}

}  // namespace llmprof::exports
