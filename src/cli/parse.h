#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/command_table.h"
#include "cli/terminal_here.h"

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

// `words`: without the program's own name. An error is of kind usage, and names what was meant
// where the spelling is close.
Result<ParsedLine> parse_line(std::span<const std::string> words);

}  // namespace llmprof::cli
