#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/command_table.h"
#include "cli/output.h"
#include "report/terminal/text_layout.h"

namespace llmprof::cli {

// A command line that agrees with the table.
struct ParsedLine {
  const CommandSpec* command = nullptr;  // null: help on the program or its version is wanted
  bool help = false;
  bool version = false;
  ColorWhen color = ColorWhen::automatic;
  std::map<std::string, std::vector<std::string>> values;  // by the name in the table
  std::vector<std::string> program;                        // after `--`
};

// What the user typed for one command, checked against the table. Asking for a name that the
// command does not declare, or as another kind, is an internal error (std::logic_error).
class Arguments {
 public:
  // Of a line that names a command.
  Arguments(ParsedLine line, report::TerminalStyle style) : line_(std::move(line)), style_(style) {}

  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  [[nodiscard]] std::optional<std::filesystem::path> path(std::string_view name) const;
  // Within the bounds that the table has.
  [[nodiscard]] std::optional<int64_t> number(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;  // of a repeatable one

  // The words after `--`.
  [[nodiscard]] const std::vector<std::string>& program() const { return line_.program; }
  // Of stdout, as --color and the environment have it.
  [[nodiscard]] const report::TerminalStyle& style() const { return style_; }

 private:
  [[nodiscard]] const OptionSpec& declared(std::string_view name) const;
  [[nodiscard]] const std::string* last(std::string_view name) const;

  ParsedLine line_;
  report::TerminalStyle style_;
};

// `words`: without the program's own name. An error is of kind usage, and names what was meant
// where the spelling is close.
Result<ParsedLine> parse_line(std::span<const std::string> words);

}  // namespace llmprof::cli
