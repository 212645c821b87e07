#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/terminal/text_layout.h"
#include "session/options/run_options.h"

namespace llmprof::cli {

class Arguments;

// The definition of the command line, from conf/commands.yaml. The parser, --help, the shell
// completions and the manual page are generated from it.

// The kind of a value: the parser checks it, and shells complete it.
enum class Takes : uint8_t { nothing, text, number, file, folder, path };

// An option, or a positional argument.
struct OptionSpec {
  std::string name;     // "--out"; for an argument, its name in help: "PATH"
  std::string metavar;  // "DIR"; empty for flags and positional arguments
  Takes takes = Takes::nothing;
  std::string help;
  std::string group;                 // its heading in help; empty: "Options"
  std::vector<std::string> choices;  // for completion; exclusive unless is_open
  bool is_open = false;              // values other than the choices are valid too
  std::string choices_of;            // a configuration group: files or its choices
  uint64_t least = 1;                // for a number
  uint64_t most = std::numeric_limits<uint32_t>::max();
  bool repeatable = false;
  bool required = false;  // for an argument
};

// A word and what it means: an example, an exit code, an environment variable.
struct Entry {
  std::string term;
  std::string about;  // may be empty
};

struct CommandSpec {
  std::string name;
  std::string summary;
  int (*run)(const Arguments&) = nullptr;
  std::vector<OptionSpec> arguments;  // positional; the last may be repeatable
  std::vector<OptionSpec> options;
  bool takes_program = false;  // the words after `--` are another program's command line
  std::string notes;
  std::vector<Entry> examples;  // ready to paste
};

struct CommandTable {
  std::string summary;  // of the program
  std::string description;
  std::vector<Entry> examples;
  std::vector<CommandSpec> commands;
  std::vector<OptionSpec> common_options;   // of every command
  std::vector<OptionSpec> program_options;  // without a command: --version
  std::vector<Entry> exit_codes;
  std::vector<Entry> environment_variables;  // that llmprof itself reads
  std::vector<Entry> files;
};
const CommandTable& command_table();

// Null if there is no such command.
const CommandSpec* find_command(std::string_view name);

// "--out DIR", "--json", "-h, --help".
std::string option_synopsis(const OptionSpec& option);

// "llmprof run [OVERRIDE...] [OPTIONS] [-- PROGRAM ARGUMENT...]".
std::string usage_line(const CommandSpec& command);

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
