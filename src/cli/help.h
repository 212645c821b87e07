#pragma once

#include <string>

#include "cli/command_table.h"
#include "report/terminal/style.h"

namespace llmprof::cli {

// `llmprof --help`.
std::string program_help(const report::TerminalStyle& style);

// `llmprof COMMAND --help`.
std::string command_help(const CommandSpec& command, const report::TerminalStyle& style);

}  // namespace llmprof::cli
