#pragma once

#include <filesystem>
#include <ios>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmprof::capture {

// The text as one word of a POSIX shell, quoted only if necessary.
std::string shell_word(std::string_view text);

// "NAME=value program 'an argument'": for people to paste, with secrets hidden; llmprof itself runs
// nothing through a shell.
std::string shell_line(std::span<const std::string> argv,
                       std::span<const std::pair<std::string, std::string>> environment = {});

// The text with a mark before each of the special characters.
std::string escaped(std::string_view text, std::string_view specials, char mark = '\\');

// The last meaningful lines of a tool's output: progress bars redraw their line with carriage
// returns. Printable, one line, short.
std::string last_words(std::string_view output);
// "it printed \"...\"", with these words.
std::string printed_words(std::string_view output);

// At most `limit` bytes of a file from `offset`, which counts from its end if negative; empty if
// the file cannot be read.
std::string file_part(const std::filesystem::path& file, std::streamoff offset, size_t limit);
// The parts between separators (of PATH, of lines), without empty ones.
std::vector<std::string_view> split_at(std::string_view text, char separator);
bool is_executable_file(const std::filesystem::path& path);

// The first executable file of that name in a PATH-like list; a name with a slash is used
// unchanged. Nothing if there is none.
std::optional<std::filesystem::path> find_executable(std::string_view name,
                                                     std::string_view path_list);

}  // namespace llmprof::capture
