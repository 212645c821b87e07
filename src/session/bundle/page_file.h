#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "page/page.h"

namespace llmprof::session {
namespace fs = std::filesystem;

inline constexpr std::string_view kPageFile = "report.html";

// Where report.html is, or why it is missing.
struct PageOutcome {
  std::optional<fs::path> file;
  std::optional<std::string> left_out;  // why there is none, and how to get it
};

// Writes report.html into an existing folder. Without a bundle, it returns the reason and removes
// an earlier page, because that would show other numbers than the new reports.
Result<PageOutcome> write_page_file(const std::optional<page::Bundle>& bundle,
                                    const fs::path& folder,
                                    const std::function<std::string(const page::Bundle&)>& make);

}  // namespace llmprof::session
