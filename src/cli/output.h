#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "report/terminal/style.h"

namespace llmprof::cli {

// Everything that goes to stdout goes through here, so that no text of a capture, a file's name or
// a program's output reaches a terminal as something to obey.

// Plain text of our own words and of others': paths, command lines.
void print_text(std::string_view text);
// What report::to_terminal made, which has colors.
void print_rendered(std::string_view text);
void print_json(std::string_view json);

// To be called after all output: reports a full disk or a closed pipe. Returns the exit code.
int finish_output();

// Everything that goes to stderr goes through here: "llmprof: " stands before the first line of a
// message, blanks before the others.

// How the messages of this process look; plain text until it is called.
void set_message_style(const report::TerminalStyle& style);
const report::TerminalStyle& message_style();

// The whole message with its prefix and a line break at the end.
std::string message_text(std::string_view message, const report::TerminalStyle& style);

void tell(std::string_view message);

// Tells what went wrong and gives the exit code: that of ErrorKind.
int complain(const Error& error);

}  // namespace llmprof::cli
