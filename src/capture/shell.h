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

// The text as one word of a POSIX shell, quoted only where it must be.
std::string shell_word(std::string_view text);

// "NAME=value program 'an argument'": ready to paste, for people, but for secrets, which it hides;
// nothing here is run through a shell.
std::string shell_line(std::span<const std::string> argv,
                       std::span<const std::pair<std::string, std::string>> environment = {});

// The last lines of a tool's output that say something: progress bars redraw their line with
// carriage returns. Printable, one line, short.
std::string last_words(std::string_view output);
// "it printed \"...\"", with these words.
std::string printed_words(std::string_view output);

// At most `limit` bytes of a file from `offset` on, or from that far before its end when it is
// negative; none where it cannot be read.
std::string file_part(const std::filesystem::path& file, std::streamoff offset, size_t limit);
// The parts between separators (of PATH, of lines); empty ones are left out.
std::vector<std::string_view> split_at(std::string_view text, char separator);
// Whether a word is one of those in a text with a blank between them.
bool is_one_of(std::string_view word, std::string_view words);

bool is_executable_file(const std::filesystem::path& path);

// The first executable file of that name in a PATH-like list; a name with a slash is taken as it
// is. Nothing when there is none.
std::optional<std::filesystem::path> find_executable(std::string_view name,
                                                     std::string_view path_list);

}  // namespace llmprof::capture
