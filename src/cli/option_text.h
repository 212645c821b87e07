#pragma once

#include <string>

#include "cli/command_table.h"

namespace llmprof::cli {

// "--out DIR", "--json", "-h, --help".
std::string option_synopsis(const OptionSpec& option);

// "PATH...", "[OVERRIDE...]", "PID": how an argument stands in a usage line.
std::string argument_synopsis(const OptionSpec& argument);

// "llmprof run [OVERRIDE...] [OPTIONS] [-- PROGRAM ARGUMENT...]".
std::string usage_line(const CommandSpec& command);

}  // namespace llmprof::cli
