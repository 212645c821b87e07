#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/command_table.h"
#include "report/terminal/text_layout.h"
#include "session/options/run_options.h"

namespace llmprof::cli {

// Texts generated from the command table.

// `llmprof --help`.
std::string program_help(const report::TerminalStyle& style);
// `llmprof COMMAND --help`.
std::string command_help(const CommandSpec& command, const report::TerminalStyle& style);

// The manual page llmprof(1), as roff for man.
std::string manual_page();

// completion.bash.in and completion.zsh.in.
extern const std::string_view kBashScript;
extern const std::string_view kZshScript;

// Scripts that complete commands, options, their choices and files, and configuration groups for
// `llmprof run`.
std::string bash_completion(std::span<const session::GroupChoices> groups);
std::string zsh_completion(std::span<const session::GroupChoices> groups);

}  // namespace llmprof::cli
