#include "session/analysis/run_page.h"

#include <utility>

namespace llmprof::session {

namespace {

void put_timeline(Result<exports::Timeline> timeline, page::Content& content) {
  if (!timeline) {
    content.timeline_missing = timeline.error().message;
    return;
  }
  content.timeline.push_back({"timeline", std::move(timeline->header)});
  for (auto& column : timeline->columns) {
    content.timeline.push_back({"t." + column.name, std::move(column.bytes)});
  }
}

}  // namespace

PageTimeline begin_timeline(const exports::ExportSource& source) {
  return std::async(std::launch::async, [source] { return exports::make_timeline(source); });
}

void add_timeline(PageTimeline timeline, page::Content& content) {
  put_timeline(timeline.get(), content);
}

void add_timeline(const exports::ExportSource& source, page::Content& content) {
  put_timeline(exports::make_timeline(source), content);
}

void add_timeline(const Result<std::vector<exports::RankSource>>& ranks, page::Content& content) {
  if (ranks) {
    put_timeline(exports::make_timeline(*ranks), content);
  } else {
    content.timeline_missing = ranks.error().message;
  }
}

Result<PageOutcome> write_run_page(const std::optional<page::Bundle>& bundle,
                                   const page::Content& content,
                                   const std::filesystem::path& folder) {
  return write_page_file(bundle, folder,
                         [&](const page::Bundle& own) { return page::make_page(own, content); });
}

}  // namespace llmprof::session
