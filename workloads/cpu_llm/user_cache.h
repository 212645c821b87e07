#pragma once

#include <filesystem>
#include <optional>

namespace llmprof {

// $XDG_CACHE_HOME/llmprof, else ~/.cache/llmprof: what can be made again at any time. It need not
// exist. None where neither variable names an absolute path.
std::optional<std::filesystem::path> user_cache_folder();

}  // namespace llmprof
