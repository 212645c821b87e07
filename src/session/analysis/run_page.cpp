#include "session/analysis/run_page.h"

#include <fmt/format.h>

#include "base/files.h"
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
  PageOutcome outcome;
  const std::filesystem::path file = folder / kPageFile;
  if (!bundle) {
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
    outcome.left_out = fmt::format("{} was left out: {}", kPageFile, page::why_no_bundle());
    return outcome;
  }
  const auto written = write_file_atomically(file, page::make_page(*bundle, content));
  if (!written) return fail_with(written.error());
  outcome.file = file;
  return outcome;
}

}  // namespace llmprof::session
