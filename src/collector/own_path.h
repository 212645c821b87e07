#pragma once

namespace llmprof::collector {

// Where this library lies, as an absolute path; null where the loader does not tell.
[[nodiscard]] const char* own_path();

// Whether a path, as variables of the environment hold them, is this library's.
[[nodiscard]] bool names_this_library(const char* path);
// Or that of another copy, or this library's name without its folder.
[[nodiscard]] bool names_a_collector(const char* path);

}  // namespace llmprof::collector
