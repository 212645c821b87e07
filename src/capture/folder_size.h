#pragma once

#include <cstdint>
#include <filesystem>

namespace llmprof::capture {

// Bytes that the files below a folder take on the disk; files that come and go meanwhile are no
// error. 0 where there is no such folder.
uint64_t folder_bytes(const std::filesystem::path& folder);

}  // namespace llmprof::capture
