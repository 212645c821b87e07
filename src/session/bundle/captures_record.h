#pragma once

#include <filesystem>
#include <vector>

#include "base/diagnostics.h"
#include "profile/run.h"
#include "session/bundle/run_dir.h"

namespace llmprof::session {

// captures.json: what a run knows about its captures that their files do not say, so that a later
// analysis of its folder reports the same.
//   {"failed": [{"backend", "message"}], "notes": [{"severity", "code", "message", "count"}]}
struct CapturesRecord {
  std::vector<profile::CaptureFailure> failures;
  Diagnostics notes;  // what worked in another way than planned
};

Result<void> write_captures_record(const Artifacts& bundle, const CapturesRecord& record);

// Empty where the folder has none; one that cannot be read is a diagnostic.
CapturesRecord read_captures_record(const std::filesystem::path& run, Diagnostics& diagnostics);

}  // namespace llmprof::session
