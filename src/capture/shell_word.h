#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace llmprof::capture {

// The text as one word of a POSIX shell, quoted only where it must be.
std::string shell_word(std::string_view text);

// "NAME=value program 'an argument'": ready to paste, for people, but for secrets, which it hides;
// nothing here is run through a shell.
std::string shell_line(std::span<const std::string> argv,
                       std::span<const std::pair<std::string, std::string>> environment = {});

}  // namespace llmprof::capture
