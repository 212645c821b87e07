#pragma once

namespace llmprof::collector {

// Where this library lies; null where the loader does not tell.
[[nodiscard]] const char* own_path();

// Whether a path, as variables of the environment hold them, is this library's.
[[nodiscard]] bool names_this_library(const char* path);

}  // namespace llmprof::collector
