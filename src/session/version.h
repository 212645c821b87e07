#pragma once

#include <string_view>

namespace llmprof::session {

// "0.1.0", from CMakeLists.txt.
inline constexpr std::string_view kVersion = LLMPROF_VERSION;

}  // namespace llmprof::session
