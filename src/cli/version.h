#pragma once

#include <string_view>

namespace llmprof::cli {

// "0.1.0", as CMakeLists.txt has it.
inline constexpr std::string_view kVersion = LLMPROF_VERSION;

}  // namespace llmprof::cli
