#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/passes/results.h"
#include "base/error.h"
#include "job/job_clock.h"
#include "profile/profile.h"
#include "trace/trace.h"

namespace llmprof::exports {

// Source of the files for viewers: an analyzed trace and its analysis.
struct ExportSource {
  const trace::Trace& trace;
  const analysis::Results& results;
  // For one rank of a job, read and analyzed separately.
  std::string rank = {};                      // "rank 3": unique in the job; empty outside a job
  job::JobClock clock = {};                   // converts its times to the job's
  const profile::Profile* profile = nullptr;  // of the run; null for a rank of a job

  [[nodiscard]] const profile::Requests* requests() const {
    return profile != nullptr && profile->requests ? &*profile->requests : nullptr;
  }
};
// One source without a job, or ranks in display order.
using ExportSources = std::vector<ExportSource>;

// A file for another program.
struct ExportedText {
  std::string text;
  std::vector<std::string> lacks;  // what it leaves out, because the captures do not have it
};

// A Perfetto trace of the program's recorded time: GPUs with their streams, stages, steps, layers
// and counters; processes with their threads; arrows from launches to the launched work. A rank is
// a process that contains its GPUs and threads. Fails if no capture has a timeline.
Result<ExportedText> perfetto_trace(const ExportSources& sources, std::string_view tool_version);

// A flame graph for speedscope, one per device: stage > layer > class > kernel, weighted by kernel
// time in nanoseconds. Unknown levels are omitted: without a timeline it is class > kernel. Uses
// only the first source. Fails if no kernel is known.
Result<ExportedText> speedscope_profile(const ExportSources& sources,
                                        std::string_view tool_version);

// A gzip-compressed profile in the format of pprof: kernel time, launches and what else is known of
// the stacks kernel < class < layer < stage. The ranks of a job are labels. Fails if no kernel is
// known.
Result<ExportedText> pprof_profile(const ExportSources& sources, std::string_view tool_version);

// Spans of requests and steps in OTLP: one ExportTraceServiceRequest in JSON per line. Needs only
// the profile. `run` names it in the attributes. Fails if it has neither requests nor stages.
Result<ExportedText> otlp_spans(const profile::Profile& profile, std::string_view run,
                                std::string_view tool_version);

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

// Each rank's tracks are in their own groups ("rank 1 / GPU 0"), with the GPUs of all ranks above
// all threads. Fails if a trace has nothing with a place in time (totals, or ncu's metrics per
// kernel), or times too far apart for one axis.
Result<Timeline> make_timeline(const ExportSources& sources);

}  // namespace llmprof::exports
