#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/passes/results.h"
#include "base/error.h"
#include "job/job_clock.h"
#include "trace/trace.h"

namespace llmprof::exports {

// What files for viewers are made of: an analyzed trace and what the passes found in it.
struct ExportSource {
  const trace::Trace& trace;
  const analysis::Results& results;
  // Of one rank of a job, read and analyzed by itself.
  std::string rank = {};     // "rank 3": unique in the job; empty where the file is of no job
  job::JobClock clock = {};  // brings its times to the job's
};
// One that is of no job, or ranks in the order in which files show them.
using ExportSources = std::vector<ExportSource>;

// A trace of Perfetto with all that the captures hold of the program's time: GPUs with their
// streams, stages, steps, layers and counters; processes with their threads; arrows from launches
// to the work they launched. A rank is a process that holds its GPUs and its threads. An error
// where no capture has a timeline.
Result<std::string> perfetto_trace(const ExportSources& sources, std::string_view tool_version);

// A flame graph for speedscope, one per device: stage > layer > class > kernel, weighted by kernel
// time in nanoseconds. Levels that are not known are left out: without a timeline it is class >
// kernel. Of the first source alone. An error where no kernel is known.
Result<std::string> speedscope_profile(const ExportSources& sources, std::string_view tool_version);

// The timeline of report.html (docs/report-html.md): a header in JSON and the columns of its
// tables.
struct Timeline {
  struct NamedColumn {
    std::string name;  // "slices.start"
    std::string bytes;
  };
  std::string header;
  std::vector<NamedColumn> columns;
};

// The tracks of each rank are in groups of its own ("rank 1 / GPU 0"), the GPUs of all ranks above
// the threads of all. An error where a trace holds nothing with a place in time (totals, or what
// ncu measured kernel by kernel), or times too far apart for one axis.
Result<Timeline> make_timeline(const ExportSources& sources);

}  // namespace llmprof::exports
