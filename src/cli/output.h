#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "report/terminal/text_layout.h"

namespace llmprof::cli {

// Of a terminal that does not say.
inline constexpr size_t kUsualColumns = 80;

enum class ColorWhen { automatic, always, never };

// "auto", "always", "never", as --color takes them; none for anything else.
std::optional<ColorWhen> parse_color(std::string_view text);

// What the environment says of terminals; empty where a variable is not set.
struct TerminalVariables {
  std::string_view term;      // TERM
  std::string_view no_color;  // NO_COLOR
  std::string_view columns;   // COLUMNS
};
TerminalVariables terminal_variables_here();

// How to write for a file that is a terminal of `columns` columns (0: it does not say), or is none.
// Widths are kept within kNarrowestTerminal and kWidestTerminal.
struct OpenTerminal {
  bool is_terminal = false;
  size_t columns = 0;
};
report::TerminalStyle style_for(const OpenTerminal& terminal, ColorWhen color,
                                const TerminalVariables& variables);

OpenTerminal terminal_of(int file_descriptor);

// A line that is written again and again needs a terminal that can go back in it.
bool can_redraw(const OpenTerminal& terminal, const TerminalVariables& variables);

// Everything that goes to stdout goes through here, so that no text of a capture, a file's name or
// a program's output reaches a terminal as something to obey.

// Plain text of our own words and of others': paths, command lines.
void print_text(std::string_view text);
// What report::to_terminal made, which has colors.
void print_rendered(std::string_view text);
void print_json(std::string_view json);
// All that a command prints. Returns the exit code.
int print(std::string_view rendered);

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
