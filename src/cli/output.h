#pragma once

#include <string_view>

namespace llmprof::cli {

// Everything that goes to stdout goes through here, so that no text of a capture, a file's name or
// a program's output reaches a terminal as something to obey.

// Plain text of our own words and of others': paths, command lines.
void print_text(std::string_view text);
// What report::to_terminal made, which has colors.
void print_rendered(std::string_view text);
void print_json(std::string_view json);

// To be called once all is printed: a full disk or a closed pipe behind stdout is the user's to
// know. Gives the exit code.
int finish_output();

}  // namespace llmprof::cli
