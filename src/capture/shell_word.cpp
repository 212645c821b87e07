#include "capture/shell_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/secrets/secrets.h"
#include "base/text.h"

namespace llmprof::capture {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
}

// Whether a terminal shows every character, and obeys none.
bool is_shown(std::string_view text) {
  std::string lines(text);
  std::replace(lines.begin(), lines.end(), '\n', ' ');
  std::replace(lines.begin(), lines.end(), '\t', ' ');
  return is_printable_utf8(lines);
}

// $'...', in which every byte can be spelled.
std::string escaped_word(std::string_view text) {
  std::string word = "$'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') {
      word += fmt::format("\\{}", c);
    } else if (c >= ' ' && c < 0x7F) {
      word += c;
    } else {
      word += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return word + "'";
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  const bool printable = is_shown(text);
  if (!printable) return escaped_word(text);
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
