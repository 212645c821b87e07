#pragma once

#include "base/error.h"
#include "exports/export_source.h"
#include "session/analysis/analyze.h"
#include "session/analysis/run_page.h"

namespace llmprof::session {

// The reports and profile.json; `analysis` then knows where they are.
Result<void> write_bundle(const AnalyzeOptions& options, OutputFolder& out, Analysis& analysis);

// The timeline that report.html will hold; not valid in a build without the page.
PageTimeline begin_page_timeline(const exports::ExportSource& source);
// report.html, behind the others.
Result<void> write_page(PageTimeline timeline, Analysis& analysis);
// Of a job, with a timeline of all its ranks, or why there is none.
Result<void> write_page_of_job(const Result<std::vector<exports::RankSource>>& ranks,
                               Analysis& analysis);

}  // namespace llmprof::session
