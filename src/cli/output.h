#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "report/terminal/text_layout.h"

namespace llmprof::cli {

// For a terminal that does not report its width.
inline constexpr size_t kUsualColumns = 80;

enum class ColorWhen { automatic, always, never };

// Environment variables about terminals; empty if not set.
struct TerminalVariables {
  std::string term;      // TERM
  std::string no_color;  // NO_COLOR
  std::string columns;   // COLUMNS
};
TerminalVariables terminal_variables_here();

// How to write to a file, which may be a terminal of `columns` columns (0: unknown). Widths are
// limited to kNarrowestTerminal and kWidestTerminal.
struct OpenTerminal {
  bool is_terminal = false;
  size_t columns = 0;
};
report::TerminalStyle style_for(const OpenTerminal& terminal, ColorWhen color,
                                const TerminalVariables& variables);

OpenTerminal terminal_of(int file_descriptor);

// Whether the terminal can rewrite a line.
bool can_redraw(const OpenTerminal& terminal, const TerminalVariables& variables);

// All output to stdout passes through these functions, so that text from captures, file names or
// programs never reaches a terminal as control sequences.

// Plain text, ours or from elsewhere: paths, command lines.
void print_text(std::string_view text);
// Output of report::to_terminal, which has colors.
void print_rendered(std::string_view text);
void print_json(std::string_view json);
// The entire output of a command. Returns the exit code.
int print(std::string_view rendered);

// Call after all output: reports a full disk or a closed pipe. Returns the exit code.
int finish_output();

// All output to stderr passes through these functions: "llmprof: " precedes the first line of a
// message, blanks the others.

// The style of this process's messages; plain text until this is called.
void set_message_style(const report::TerminalStyle& style);
const report::TerminalStyle& message_style();

// The complete message with its prefix and a line break at the end.
std::string message_text(std::string_view message, const report::TerminalStyle& style);

void print_message(std::string_view message);

// Reports the error and returns the exit code of its ErrorKind.
int complain(const Error& error);

}  // namespace llmprof::cli
