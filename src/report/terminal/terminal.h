#pragma once

#include <string>

#include "report/document.h"
#include "report/terminal/text_layout.h"

namespace llmprof::report {

// Text for people at a terminal, with aligned columns. It keeps to the style's width: text is
// wrapped, names of code are shortened in the middle, and columns that do not fit are dropped, with
// a note that names them.
std::string to_terminal(const Document& document, const TerminalStyle& style = {});

}  // namespace llmprof::report
