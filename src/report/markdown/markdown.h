#pragma once

#include <string>
#include <string_view>

#include "report/document.h"

namespace llmprof::report {

// GitHub-flavored Markdown. No text can break out of its place: pipes, angle brackets, backticks,
// line breaks and invalid UTF-8 in kernel names are escaped or replaced.
std::string to_markdown(const Document& document);

std::string markdown_text(std::string_view text);
// Text outside tables, in which `a command` is shown as typed.
std::string markdown_prose(std::string_view text);
// For a table cell.
std::string markdown_code(std::string_view text);

}  // namespace llmprof::report
