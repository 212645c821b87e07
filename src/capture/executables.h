#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace llmprof::capture {

bool is_executable_file(const std::filesystem::path& path);

// The first executable file of that name in a PATH-like list; a name with a slash is taken as it
// is. Nothing when there is none.
std::optional<std::filesystem::path> find_executable(std::string_view name,
                                                     std::string_view path_list);

}  // namespace llmprof::capture
