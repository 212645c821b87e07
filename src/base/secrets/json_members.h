#pragma once

#include <string>
#include <string_view>

namespace llmprof {

// A text in which the members of JSON objects whose names say that they are secret have another
// value; also of what looks like JSON, in other quotes or escaped in a script.
std::string without_secret_members(std::string_view text);

}  // namespace llmprof
