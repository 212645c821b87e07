#pragma once

#include <string>

#include "cli/command_table.h"
#include "report/terminal/style.h"

namespace llmprof {

// `llmprof --help`.
std::string program_help(const TerminalStyle& style);

// `llmprof COMMAND --help`.
std::string command_help(const CommandSpec& command, const TerminalStyle& style);

}  // namespace llmprof
