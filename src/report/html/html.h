#pragma once

#include <string>
#include <string_view>

#include "report/document.h"

namespace llmprof::report {

// For XML: an SVG picture, a JUnit report.
std::string xml_text(std::string_view text);
// For the text of an element and for a quoted attribute: names are untrusted input.
std::string html_text(std::string_view text);

// The document's blocks as elements, without a frame around them. Links become text: the page is
// self-contained.
std::string to_html(const Document& document);

}  // namespace llmprof::report
