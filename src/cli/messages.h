#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "report/terminal/style.h"

namespace llmprof::cli {

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
