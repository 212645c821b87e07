#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/passes/results.h"
#include "base/error.h"
#include "base/progress.h"
#include "profile/profile.h"
#include "session/analysis/plan.h"
#include "session/analysis/reading.h"
#include "session/analysis/timings.h"
#include "session/analysis/traces.h"
#include "session/bundle/page_file.h"
#include "session/bundle/run_dir.h"

namespace llmprof::session {

struct Analysis {
  profile::Profile profile;
  fs::path folder;                 // of the bundle
  std::vector<std::string> files;  // written into it, but the page
  PageOutcome page;
  std::string json;                   // the text of profile.json
  std::optional<Error> incomplete;    // an input that could not be read, where others could
  std::optional<Error> not_exported;  // why a file for another viewer is missing
  std::vector<PartTiming> timings;    // in the order in which the parts were begun
};

// Functions that give no Result throw what is wrong (base/needed.h).

// Before anything is written: the profile, and what single events are taken from.
struct AnalyzedInputs {
  Analysis analysis;
  trace::Trace trace;
  analysis::Results results;
};

// Reads all inputs of a plan into one trace and analyzes it. `reading` is what was read of the
// inputs already; those are not read again. Writes nothing but what a report of a tool must be
// converted to, which goes into `out`. `list_failures`: an error names the captures that failed.
AnalyzedInputs analyze_planned(AnalysisPlan plan, bool list_failures, Progress& progress,
                               OutputFolder& out, Reading reading = {});

// Analyzes all inputs and writes the bundle. Captures of two ranks and more are a job: each rank is
// analyzed by itself. An error means that no report was written.
Result<Analysis> analyze(const AnalyzeOptions& options, Progress& progress, Reading reading = {});

// The profile that `analyze` would write.
Result<Analysis> analyze_to_profile(const AnalyzeOptions& options, Progress& progress,
                                    OutputFolder& out);

// Writes the reports, profile.json, the page and files for other viewers of what is in `analysis`,
// which then says where they are.
Analysis write_outputs(const AnalyzeOptions& options, const KeptTraces& traces, Progress& progress,
                       OutputFolder& out, Analysis analysis);

// Writes all reports again from a profile.json alone, which is the input, or in the folder or the
// run that is; the page's timeline and files for other viewers from the captures, where a folder
// was named and they are at hand. Without `out` the reports go beside profile.json, in place of
// those there; profile.json itself is copied into another folder, and stays as it is beside the
// reports it made. The profile itself is not in the result.
Result<Analysis> rewrite_reports(const AnalyzeOptions& options, Progress& progress);

// One partial profile per rank (job/partial), which `llmprof merge` makes the job's profile of.
// Only the folder, the files, what is incomplete and the timings are filled.
Result<Analysis> analyze_partially(const AnalyzeOptions& options, Progress& progress);

// Makes the job's bundle of its ranks' partial profiles: what `analyze` makes of all captures, byte
// for byte. Inputs are partial profiles, and folders that hold them; a folder without one is
// analyzed: it may hold the ranks' captures.
Result<Analysis> merge(const AnalyzeOptions& options, Progress& progress);

}  // namespace llmprof::session
