#include "session/analysis/run_page.h"

#include "exports/timeline/timeline.h"

namespace llmprof::session {

void add_timeline(const exports::ExportSource& source, page::Content& content) {
  auto timeline = exports::make_timeline(source);
  if (!timeline) {
    content.timeline_missing = timeline.error().message;
    return;
  }
  content.timeline.push_back({"timeline", std::move(timeline->header)});
  for (auto& column : timeline->columns) {
    content.timeline.push_back({"t." + column.name, std::move(column.bytes)});
  }
}

Result<PageOutcome> write_run_page(const std::optional<page::Bundle>& bundle,
                                   const page::Content& content,
                                   const std::filesystem::path& folder) {
  return write_page_file(bundle, folder,
                         [&](const page::Bundle& own) { return page::make_page(own, content); });
}

}  // namespace llmprof::session
