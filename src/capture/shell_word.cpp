#include "capture/shell_word.h"

#include <algorithm>
#include <vector>

#include "base/secrets/secrets.h"

namespace llmprof::capture {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string shell_line(std::span<const std::string> argv,
                       std::span<const std::pair<std::string, std::string>> environment) {
  std::string line;
  for (const auto& [name, value] : environment) {
    line.append(name).append("=").append(shell_word(recorded_value(name, value))).append(" ");
  }
  const std::vector<std::string> told = without_secrets(argv);
  for (size_t i = 0; i < told.size(); ++i) {
    if (i > 0) line += ' ';
    std::string word = shell_word(told[i]);
    // A program whose name holds '=' would be an assignment.
    if (i == 0 && word == told[i] && word.find('=') != std::string::npos)
      word.insert(0, "'").append("'");
    line += word;
  }
  return line;
}

}  // namespace llmprof::capture
