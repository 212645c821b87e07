#pragma once

#include <string>
#include <string_view>

namespace llmprof {

// In double quotes, with quotes and backslashes escaped: as JSON and our overrides write a text
// without control characters.
inline std::string in_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace llmprof
