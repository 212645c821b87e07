#pragma once

#include <string_view>

namespace llmprof::session {

// "0.1.0", as CMakeLists.txt has it.
inline constexpr std::string_view kVersion = LLMPROF_VERSION;

}  // namespace llmprof::session
