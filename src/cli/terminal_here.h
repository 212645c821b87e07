#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "report/terminal/style.h"

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

}  // namespace llmprof::cli
