#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/passes/results.h"
#include "base/error.h"
#include "base/progress.h"
#include "exports/exports.h"
#include "page/page.h"
#include "profile/profile.h"
#include "query/model/run.h"
#include "session/analysis/plan.h"
#include "session/analysis/reading.h"
#include "session/analysis/timings.h"
#include "session/bundle/bundle_files.h"
#include "session/bundle/run_dir.h"

namespace llmprof::session {

struct Analysis {
  profile::Profile profile;
  fs::path folder;                 // the bundle's folder
  std::vector<std::string> files;  // files written into it, without the page
  PageOutcome page;
  std::string json;                   // the text of profile.json
  std::optional<Error> incomplete;    // an input that could not be read although others could
  std::optional<Error> not_exported;  // why a file for another viewer is missing
  std::vector<PartTiming> timings;    // in the order in which the parts started
};

// Functions that do not return a Result throw their errors (base/needed.h).

// The source of single events: the analyzed trace, or those of all ranks of a job if a page and
// memory can hold that many.
class KeptTraces {
 public:
  // `rank` is none if there is no job.
  void keep(std::optional<uint64_t> rank, trace::Trace&& trace, analysis::Results&& results);

  // Includes ranks that are not kept.
  [[nodiscard]] uint64_t kernel_count() const { return kernels_; }

  // Adds the timeline to the page's content, or the reason why there is none. Ranks are aligned to
  // the clocks that the job's profile names.
  void add_timeline(page::Content& content) const;
  // Writes the requested files for other viewers into the folder of `analysis`, replacing earlier
  // ones, and lists them there. A job has one Perfetto file for all ranks and a flame graph per
  // rank (trace.rank3.speedscope.json).
  void write_exports(const Exports& wanted, const profile::Profile& profile,
                     Analysis& analysis) const;

  // All that is kept. Fails if the ranks of a job have too many kernels together.
  Result<std::vector<query::Events>> take() &&;

 private:
  // They refer to data kept here. The error says why there are none.
  [[nodiscard]] Result<exports::ExportSources> sources(const profile::Profile& profile) const;

  std::vector<query::Events> kept_;
  uint64_t kernels_ = 0;
};

// Sources of files for viewers; they refer to both. Ranks of a job are aligned to the clocks that
// its profile names. The error says why there are none.
Result<exports::ExportSources> export_sources(const profile::Profile& profile,
                                              const std::vector<query::Events>& events);

// The state before anything is written: the profile and the traces that provide single events.
struct AnalyzedInputs {
  Analysis analysis;
  trace::Trace trace;
  analysis::Results results;
};

// Reads all inputs of a plan into one trace and analyzes it. Inputs that are already in `reading`
// are not read again. The only files it writes are conversions of tool reports, into `out`. With
// `list_failures`, an error names the captures that failed.
AnalyzedInputs analyze_planned(AnalysisPlan plan, bool list_failures, Progress& progress,
                               OutputFolder& out, Reading reading = {});

// Analyzes all inputs and writes the bundle. Captures of two or more ranks are a job, whose ranks
// are analyzed separately. An error means that no report was written.
Result<Analysis> analyze(const AnalyzeOptions& options, Progress& progress, Reading reading = {});

// The profile that `analyze` would write. `traces` may be null.
Result<Analysis> analyze_to_profile(const AnalyzeOptions& options, Progress& progress,
                                    OutputFolder& out, KeptTraces* traces = nullptr);

// Reads and analyzes a profile's captures again, for outputs that need single events, which
// profile.json does not contain. For a run folder, these are its captures; for another folder,
// those that its profile names, if they still exist. Fails if the result differs from the profile.
KeptTraces read_again(const fs::path& folder, const profile::Profile& profile, Progress& progress);

// Writes the reports, profile.json, the page and the files for other viewers, and adds their paths
// to the result.
Analysis write_outputs(const AnalyzeOptions& options, const KeptTraces& traces, Progress& progress,
                       OutputFolder& out, Analysis analysis);

// Rewrites all reports from profile.json alone. The input is that file, or a folder or run that
// contains it. The page's timeline and the files for other viewers are made from the captures if
// the input is a folder and the captures still exist. Without `out`, the reports replace those next
// to profile.json, which stays unchanged; otherwise profile.json is copied to `out`. The result
// does not contain the profile.
Result<Analysis> rewrite_reports(const AnalyzeOptions& options, Progress& progress);

// Writes one partial profile per rank (job/partial), which `llmprof merge` combines into the job's
// profile. Fills only the folder, files, `incomplete` and timings of the result.
Result<Analysis> analyze_partially(const AnalyzeOptions& options, Progress& progress);

// Combines the ranks' partial profiles into the job's bundle, byte for byte what `analyze` makes
// from all captures. Inputs are partial profiles and folders that contain them. A folder without
// any is analyzed: it may contain the ranks' captures.
Result<Analysis> merge(const AnalyzeOptions& options, Progress& progress);

}  // namespace llmprof::session
