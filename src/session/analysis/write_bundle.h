#pragma once

#include "base/error.h"
#include "exports/export_source.h"
#include "session/analysis/analyze.h"

namespace llmprof::session {

// The reports and profile.json; `analysis` then knows where they are.
Result<void> write_bundle(const AnalyzeOptions& options, OutputFolder& out, Analysis& analysis);

// report.html, behind the others.
Result<void> write_page(const exports::ExportSource& source, Analysis& analysis);
// Of a job, with a timeline of all its ranks, or why there is none.
Result<void> write_page_of_job(const Result<std::vector<exports::RankSource>>& ranks,
                               Analysis& analysis);

}  // namespace llmprof::session
