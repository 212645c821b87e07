#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/progress.h"
#include "profile/profile.h"
#include "session/analysis/analyze_options.h"
#include "session/analysis/reading.h"
#include "session/analysis/run_page.h"
#include "session/analysis/timings.h"

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

// Reads all inputs into one trace, analyzes it, writes the bundle. `reading` is what was read of
// the inputs already; those are not read again. An error means that no report was written.
Result<Analysis> analyze(const AnalyzeOptions& options, std::string_view version,
                         Progress& progress, Reading reading = {});

}  // namespace llmprof::session
