#pragma once

#include <string>

#include "report/document.h"

namespace llmprof::report {

// Plain text with aligned columns for a terminal; no colours, so that it can be piped and pasted.
std::string to_terminal(const Document& document);

}  // namespace llmprof::report
