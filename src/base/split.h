#pragma once

#include <string_view>
#include <vector>

namespace llmprof {

// The pieces between the characters `at`, one more than there are of these.
inline std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> pieces;
  for (size_t end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  pieces.push_back(text);
  return pieces;
}

}  // namespace llmprof
