#pragma once

#include <filesystem>
#include <future>
#include <optional>
#include <vector>

#include "base/error.h"
#include "exports/export_source.h"
#include "exports/timeline/timeline.h"
#include "page/page.h"
#include "session/bundle/page_file.h"

namespace llmprof::session {

// Made while the reports are written. What `source` refers to outlives it.
using PageTimeline = std::future<Result<exports::Timeline>>;
PageTimeline begin_timeline(const exports::ExportSource& source);
void add_timeline(PageTimeline timeline, page::Content& content);
// Puts the timeline into what a page holds, or says why there is none.
void add_timeline(const exports::ExportSource& source, page::Content& content);
// Likewise of a job's ranks.
void add_timeline(const Result<std::vector<exports::RankSource>>& ranks, page::Content& content);

// Writes a run's report.html, as write_page_file does.
Result<PageOutcome> write_run_page(const std::optional<page::Bundle>& bundle,
                                   const page::Content& content,
                                   const std::filesystem::path& folder);

}  // namespace llmprof::session
