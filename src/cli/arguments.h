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
#include "report/terminal/style.h"

namespace llmprof::cli {

// What the user typed for one command, checked against the table. Asking for a name that the
// command does not declare, or as another kind, is an internal error (std::logic_error).
class Arguments {
 public:
  Arguments(const CommandSpec& command, std::map<std::string, std::vector<std::string>> values,
            std::vector<std::string> program, report::TerminalStyle style)
      : command_(&command),
        values_(std::move(values)),
        program_(std::move(program)),
        style_(style) {}

  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  [[nodiscard]] std::optional<std::filesystem::path> path(std::string_view name) const;
  // Within the bounds that the table has.
  [[nodiscard]] std::optional<int64_t> number(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;  // of a repeatable one

  // The words after `--`.
  [[nodiscard]] const std::vector<std::string>& program() const { return program_; }
  // Of stdout, as --color and the environment have it.
  [[nodiscard]] const report::TerminalStyle& style() const { return style_; }

 private:
  [[nodiscard]] const OptionSpec& declared(std::string_view name) const;
  [[nodiscard]] const std::string* last(std::string_view name) const;

  const CommandSpec* command_;
  std::map<std::string, std::vector<std::string>> values_;  // by the name in the table
  std::vector<std::string> program_;
  report::TerminalStyle style_;
};

// A command line that agrees with the table.
struct ParsedLine {
  const CommandSpec* command = nullptr;  // null: help on the program or its version is wanted
  bool help = false;
  bool version = false;
  ColorWhen color = ColorWhen::automatic;
  std::map<std::string, std::vector<std::string>> values;  // by the name in the table
  std::vector<std::string> program;                        // after `--`
};

// `words`: without the program's own name. An error is of kind usage, and names what was meant
// where the spelling is close.
Result<ParsedLine> parse_line(std::span<const std::string> words);

}  // namespace llmprof::cli
