#include "cli/output.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/text.h"
#include "report/terminal/wrap.h"

namespace llmprof::cli {
namespace {

// What fails shows in finish_output.
void print(std::string_view text) {
  [[maybe_unused]] const size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
}

constexpr std::string_view kPrefix = "llmprof:";
constexpr std::string_view kIndent = "  ";

report::TerminalStyle& current_style() {
  static report::TerminalStyle style;
  return style;
}

}  // namespace

void print_text(std::string_view text) { print(to_printable_lines(text)); }

void print_rendered(std::string_view text) { print(text); }

void print_json(std::string_view json) { print(to_printable_json(json)); }

int finish_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
  return complain({ErrorKind::tool, "cannot write to standard output"});
}

void set_message_style(const report::TerminalStyle& style) { current_style() = style; }

const report::TerminalStyle& message_style() { return current_style(); }

std::string message_text(std::string_view told, const report::TerminalStyle& style) {
  const std::string safe = to_printable_lines(told);
  std::string_view message = safe;
  while (message.ends_with('\n')) message.remove_suffix(1);
  std::string text;
  std::string first = std::string(kPrefix) + ' ';
  std::string rest(kIndent);
  while (true) {
    const size_t end = std::min(message.find('\n'), message.size());
    text += report::wrapped_behind(first, rest, message.substr(0, end), style.width) + '\n';
    if (end == message.size()) break;
    message.remove_prefix(end + 1);
    // A line's own blanks stay, where they are more than ours.
    const size_t blanks = std::min(message.find_first_not_of(' '), message.size());
    message.remove_prefix(blanks);
    const bool is_empty = message.empty() || message.front() == '\n';
    rest.assign(is_empty ? 0 : std::max(blanks, kIndent.size()), ' ');
    first = rest;
  }
  return report::tinted(kPrefix, report::Tint::heading, style) + text.substr(kPrefix.size());
}

void tell(std::string_view message) {
  const std::string text = message_text(message, current_style());
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int complain(const Error& error) {
  tell(error.message);
  return static_cast<int>(error.kind);
}

}  // namespace llmprof::cli
