#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/passes/runner.h"
#include "base/error.h"
#include "profile/profile.h"
#include "session/analysis/analyze_options.h"
#include "session/analysis/progress.h"
#include "session/analysis/reading.h"

namespace llmprof::session {

struct Analysis {
  profile::Profile profile;
  std::vector<analysis::PassTiming> timings;
  std::filesystem::path folder;     // of the bundle
  std::vector<std::string> files;   // written into it
  std::string json;                 // the text of profile.json
  std::optional<Error> incomplete;  // an input that could not be read, where others could
};

// Reads all inputs into one trace, analyzes it, writes the bundle. `reading` is what was read of
// the inputs already; those are not read again. An error means that no report was written.
Result<Analysis> analyze(const AnalyzeOptions& options, std::string_view version,
                         const Progress& progress, Reading reading = {});

}  // namespace llmprof::session
