#pragma once

namespace llmprof::collector {

// The absolute path of this library; null if the loader does not know it.
[[nodiscard]] const char* own_path();

// Whether a path from an environment variable is this library's.
[[nodiscard]] bool names_this_library(const char* path);
// The same, but also for another copy of it, or its file name without a folder.
[[nodiscard]] bool names_a_collector(const char* path);

}  // namespace llmprof::collector
