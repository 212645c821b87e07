#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/machine.h"
#include "base/text.h"
#include "report/terminal/text_layout.h"

namespace llmprof::cli {
namespace {

// finish_output reports failures.
void write_to_stdout(std::string_view text) {
  [[maybe_unused]] const size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
}

constexpr std::string_view kPrefix = "llmprof:";
constexpr std::string_view kIndent = "  ";

report::TerminalStyle& current_style() {
  static report::TerminalStyle style;
  return style;
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

TerminalVariables terminal_variables_here() {
  return {environment_variable("TERM"), environment_variable("NO_COLOR"),
          environment_variable("COLUMNS")};
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

void print_text(std::string_view text) { write_to_stdout(to_printable_lines(text)); }

void print_rendered(std::string_view text) { write_to_stdout(text); }

void print_json(std::string_view json) { write_to_stdout(to_printable_json(json)); }

int print(std::string_view rendered) {
  print_rendered(rendered);
  return finish_output();
}

int finish_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
  return complain({ErrorKind::tool, "cannot write to standard output"});
}

void set_message_style(const report::TerminalStyle& style) { current_style() = style; }

const report::TerminalStyle& message_style() { return current_style(); }

std::string message_text(std::string_view message, const report::TerminalStyle& style) {
  const std::string safe = to_printable_lines(message);
  std::string_view lines = safe;
  while (lines.ends_with('\n')) lines.remove_suffix(1);
  std::string text;
  std::string first = std::string(kPrefix) + ' ';
  std::string rest(kIndent);
  for (std::string_view line : split(lines, '\n')) {
    if (!text.empty()) {
      // A line keeps its own indentation if it is deeper than ours.
      const size_t blanks = std::min(line.find_first_not_of(' '), line.size());
      line.remove_prefix(blanks);
      rest.assign(line.empty() ? 0 : std::max(blanks, kIndent.size()), ' ');
      first = rest;
    }
    text += report::wrapped_behind(first, rest, line, style.width) + '\n';
  }
  return report::tinted(kPrefix, report::Tint::heading, style) + text.substr(kPrefix.size());
}

void print_message(std::string_view message) {
  const std::string text = message_text(message, current_style());
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int complain(const Error& error) {
  print_message(error.message);
  return static_cast<int>(error.kind);
}

}  // namespace llmprof::cli
