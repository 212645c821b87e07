#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"
#include "exports/export_source.h"
#include "page/bundle.h"
#include "page/page.h"

namespace llmprof::session {

inline constexpr std::string_view kPageFile = "report.html";

// What became of report.html.
struct PageOutcome {
  std::optional<std::filesystem::path> file;
  std::optional<std::string> left_out;  // why there is none, and how to get it
};

// Puts the timeline into what a page holds, or says why there is none.
void add_timeline(const exports::ExportSource& source, page::Content& content);

// Writes report.html into a folder that exists; without a bundle, says why not. A page of an
// earlier program is then removed, because it would show other numbers than the reports beside it.
Result<PageOutcome> write_run_page(const std::optional<page::Bundle>& bundle,
                                   const page::Content& content,
                                   const std::filesystem::path& folder);

}  // namespace llmprof::session
