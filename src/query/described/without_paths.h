#pragma once

#include <string>
#include <string_view>

namespace llmprof::query {

// A message in which paths are shortened to the names of their files: answers may leave the
// machine, and folders name users and projects.
std::string without_paths(std::string_view text);

// A text of the program, such as a range, in which full paths are shortened likewise and secrets
// are hidden. Scopes stay: "model/layer_0/attention".
std::string without_full_paths(std::string_view text);

}  // namespace llmprof::query
