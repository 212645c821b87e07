#include "cli/terminal_here.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace llmprof::cli {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

bool is_dumb(std::string_view term) { return term.empty() || term == "dumb"; }

size_t width_for(const OpenTerminal& terminal, std::string_view columns) {
  const auto within = [](size_t width) {
    return std::clamp(width, report::kNarrowestTerminal, report::kWidestTerminal);
  };
  if (const auto wanted = parse_int(columns); wanted && *wanted > 0) {
    return within(static_cast<size_t>(*wanted));
  }
  if (!terminal.is_terminal) return 0;
  return within(terminal.columns == 0 ? kUsualColumns : terminal.columns);
}

}  // namespace

std::optional<ColorWhen> parse_color(std::string_view text) {
  if (text == "auto") return ColorWhen::automatic;
  if (text == "always") return ColorWhen::always;
  if (text == "never") return ColorWhen::never;
  return std::nullopt;
}

TerminalVariables terminal_variables_here() {
  return {variable("TERM"), variable("NO_COLOR"), variable("COLUMNS")};
}

report::TerminalStyle style_for(const OpenTerminal& terminal, ColorWhen color,
                                const TerminalVariables& variables) {
  const bool by_itself =
      terminal.is_terminal && variables.no_color.empty() && !is_dumb(variables.term);
  report::TerminalStyle style;
  style.width = width_for(terminal, variables.columns);
  style.color = color == ColorWhen::always || (color == ColorWhen::automatic && by_itself);
  return style;
}

OpenTerminal terminal_of(int file_descriptor) {
  OpenTerminal terminal;
  terminal.is_terminal = ::isatty(file_descriptor) != 0;
  winsize size{};
  if (terminal.is_terminal && ::ioctl(file_descriptor, TIOCGWINSZ, &size) == 0) {
    terminal.columns = size.ws_col;
  }
  return terminal;
}

bool can_redraw(const OpenTerminal& terminal, const TerminalVariables& variables) {
  return terminal.is_terminal && !is_dumb(variables.term);
}

}  // namespace llmprof::cli
