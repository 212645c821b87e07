#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/passes/results.h"
#include "base/error.h"
#include "base/progress.h"
#include "profile/profile.h"
#include "session/analysis/analyze_options.h"
#include "session/analysis/plan.h"
#include "session/analysis/reading.h"
#include "session/analysis/run_page.h"
#include "session/analysis/timings.h"
#include "session/bundle/output_folder.h"

namespace llmprof::session {

struct Analysis {
  profile::Profile profile;
  std::filesystem::path folder;    // of the bundle
  std::vector<std::string> files;  // written into it, but the page
  PageOutcome page;
  std::string json;                   // the text of profile.json
  std::optional<Error> incomplete;    // an input that could not be read, where others could
  std::optional<Error> not_exported;  // why a file for another viewer is missing
  std::vector<PartTiming> timings;    // in the order in which the parts were begun
};

// Before anything is written: the profile, and what single events are taken from.
struct AnalyzedInputs {
  Analysis analysis;
  trace::Trace trace;
  analysis::Results results;
};

// Reads all inputs into one trace and analyzes it. `reading` is what was read of the inputs
// already; those are not read again. Writes nothing but what a report of a tool must be converted
// to, which goes into `out`.
Result<AnalyzedInputs> analyze_in_memory(const AnalyzeOptions& options, std::string_view version,
                                         Progress& progress, OutputFolder& out,
                                         Reading reading = {});

// The same by a plan that was made. `list_failures`: an error names the captures that failed.
Result<AnalyzedInputs> analyze_planned(AnalysisPlan plan, bool list_failures,
                                       std::string_view version, Progress& progress,
                                       OutputFolder& out, Reading reading);

// Analyzes all inputs and writes the bundle. Captures of two ranks and more are a job: each rank is
// analyzed by itself. An error means that no report was written.
Result<Analysis> analyze(const AnalyzeOptions& options, std::string_view version,
                         Progress& progress, Reading reading = {});

// The profile that `analyze` would write.
Result<Analysis> analyze_to_profile(const AnalyzeOptions& options, std::string_view version,
                                    Progress& progress, OutputFolder& out);

struct WrittenPartials {
  std::filesystem::path folder;
  std::vector<std::string> files;   // in it, one per rank
  std::optional<Error> incomplete;  // as of Analysis
  std::vector<PartTiming> timings;
};

// One partial profile per rank (job/partial), which `llmprof merge` makes the job's profile of.
Result<WrittenPartials> analyze_partially(const AnalyzeOptions& options, std::string_view version,
                                          Progress& progress);

}  // namespace llmprof::session
