#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_table.h"
#include "cli/output.h"
#include "report/terminal/text_layout.h"

namespace llmprof::cli {

// A command line that matches the table.
struct ParsedLine {
  const CommandSpec* command = nullptr;  // null: help or the version was requested
  bool help = false;
  bool version = false;
  ColorWhen color = ColorWhen::automatic;
  std::map<std::string, std::vector<std::string>> values;  // by the name in the table
  std::vector<std::string> program;                        // after `--`
};

// The user's arguments for one command, checked against the table. Requesting a name that the
// command does not declare, or another kind of value, is an internal error (std::logic_error).
class Arguments {
 public:
  // `line` must name a command.
  Arguments(ParsedLine line, report::TerminalStyle style) : line_(std::move(line)), style_(style) {}

  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  // Within the bounds in the table.
  [[nodiscard]] std::optional<int64_t> number(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;  // if repeatable

  // The words after `--`.
  [[nodiscard]] const std::vector<std::string>& program() const { return line_.program; }
  // The style of stdout, from --color and the environment.
  [[nodiscard]] const report::TerminalStyle& style() const { return style_; }

 private:
  [[nodiscard]] const OptionSpec& declared(std::string_view name) const;
  [[nodiscard]] const std::string* last(std::string_view name) const;

  ParsedLine line_;
  report::TerminalStyle style_;
};

// `words` excludes the program's own name. Errors are thrown (base/needed.h); they are of kind
// usage and suggest the nearest valid word if the spelling is close.
ParsedLine parse_line(std::span<const std::string> words);

}  // namespace llmprof::cli
