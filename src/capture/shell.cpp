#include "capture/shell.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/secrets/secrets.h"
#include "base/text.h"

namespace llmprof::capture {
namespace {

bool is_plain(char c) {
  return is_identifier(c) || std::string_view("@%+=:,./-").find(c) != std::string_view::npos;
}

// Whether a terminal shows every character, and obeys none.
bool is_shown(std::string_view text) {
  std::string lines(text);
  std::ranges::replace_if(lines, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return is_printable_utf8(lines);
}

// $'...', which can express every byte.
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

constexpr size_t kQuotedLines = 3;
constexpr size_t kQuotedCharacters = 300;

}  // namespace

std::string escaped(std::string_view text, std::string_view specials, char mark) {
  std::string made;
  for (const char c : text) {
    if (specials.find(c) != std::string_view::npos) made += mark;
    made += c;
  }
  return made;
}

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  if (!is_shown(text)) return escaped_word(text);
  std::string word = "'";
  for (const char c : text) {
    word += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return word + "'";
}

std::string shell_line(std::span<const std::string> argv,
                       std::span<const std::pair<std::string, std::string>> environment) {
  std::string line;
  for (const auto& [name, value] : environment) {
    line.append(name).append("=").append(shell_word(recorded_value(name, value))).append(" ");
  }
  const std::vector<std::string> shown = without_secrets(argv);
  for (size_t i = 0; i < shown.size(); ++i) {
    if (i > 0) line += ' ';
    std::string word = shell_word(shown[i]);
    // A program whose name contains '=' would be an assignment.
    if (i == 0 && word == shown[i] && word.find('=') != std::string::npos)
      word.insert(0, "'").append("'");
    line += word;
  }
  return line;
}

std::string last_words(std::string_view output) {
  std::string words;
  for (size_t lines = 0; !output.empty() && lines < kQuotedLines;) {
    const size_t begin = output.find_last_of("\r\n") + 1;  // 0: there is none
    const std::string_view line = trim(output.substr(begin));
    output = output.substr(0, begin == 0 ? 0 : begin - 1);
    const bool is_progress = line.ends_with("%]") || (line.ends_with(']') && contains(line, "% "));
    if (line.empty() || is_progress) continue;
    // The last line matters most: earlier ones are added only if they fit.
    if (lines > 0 && words.size() + line.size() > kQuotedCharacters) break;
    words =
        fmt::format("{}{}{}", to_printable(without_secrets(line)), lines > 0 ? " | " : "", words);
    ++lines;
  }
  return shortened(words, kQuotedCharacters);
}

std::string printed_words(std::string_view output) {
  const std::string words = last_words(output);
  return words.empty() ? "it printed nothing" : fmt::format("it printed \"{}\"", words);
}

std::string file_part(const std::filesystem::path& file, std::streamoff offset, size_t limit) {
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = stream.tellg();
  if (!stream || size <= 0) return {};
  stream.seekg(offset >= 0 ? offset : std::max<std::streamoff>(0, size + offset));
  std::string bytes(std::min(limit, static_cast<size_t>(size)), '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(stream.gcount()));
  return bytes;
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts = split(text, separator);
  std::erase(parts, "");
  return parts;
}

bool is_executable_file(const std::filesystem::path& path) {
  struct stat about{};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::optional<std::filesystem::path> find_executable(std::string_view name,
                                                     std::string_view path_list) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string_view::npos) {
    return is_executable_file(name) ? std::optional<std::filesystem::path>(name) : std::nullopt;
  }
  for (const std::string_view folder : split_at(path_list, ':')) {
    std::filesystem::path candidate = std::filesystem::path(folder) / name;
    if (is_executable_file(candidate)) return candidate;
  }
  return std::nullopt;
}

}  // namespace llmprof::capture
