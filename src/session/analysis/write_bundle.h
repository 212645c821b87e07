#pragma once

#include "base/error.h"
#include "exports/export_source.h"
#include "session/analysis/analyze.h"

namespace llmprof::session {

// The reports and profile.json; `analysis` then knows where they are.
Result<void> write_bundle(const AnalyzeOptions& options, OutputFolder& out, Analysis& analysis);

// report.html, behind the others.
Result<void> write_page(const exports::ExportSource& source, Analysis& analysis);
// Without a timeline, and why.
inline constexpr std::string_view kNoTimelineOfJob =
    "The page of a job has no timeline; `llmprof analyze` of one rank's capture draws that rank's.";
Result<void> write_page_of_job(Analysis& analysis);

}  // namespace llmprof::session
