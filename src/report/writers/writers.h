#pragma once

#include <string>
#include <string_view>

#include "report/document.h"
#include "report/terminal/text_layout.h"

namespace llmprof::report {

// GitHub-flavored Markdown. No text can break out of its place: pipes, angle brackets, backticks,
// line breaks and invalid UTF-8 in kernel names are escaped or replaced.
std::string to_markdown(const Document& document);
std::string markdown_text(std::string_view text);
// Text outside tables, in which `a command` is shown as typed.
std::string markdown_prose(std::string_view text);
// For a table cell.
std::string markdown_code(std::string_view text);

// The document's blocks as elements, without a frame around them. Links become text: the page is
// self-contained.
std::string to_html(const Document& document);
// For the text of an element and for a quoted attribute: names are untrusted input.
std::string html_text(std::string_view text);
// For XML: an SVG picture, a JUnit report.
std::string xml_text(std::string_view text);

// Text for people at a terminal, with aligned columns. It keeps to the style's width: text is
// wrapped, names of code are shortened in the middle, and columns that do not fit are dropped, with
// a note that names them.
std::string to_terminal(const Document& document, const TerminalStyle& style = {});

// A text in which pieces between backticks are code.
template <class Text, class Code>
std::string with_code(std::string_view text, const Text& plain, const Code& code) {
  std::string out;
  while (true) {
    const size_t open = text.find('`');
    const size_t close = open == std::string_view::npos ? open : text.find('`', open + 1);
    if (close == std::string_view::npos || close == open + 1) return out + plain(text);
    out += plain(text.substr(0, open)) + code(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
}

}  // namespace llmprof::report
