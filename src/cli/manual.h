#pragma once

#include <string>

namespace llmprof::cli {

// The manual page llmprof(1), as roff for man.
std::string manual_page();

}  // namespace llmprof::cli
