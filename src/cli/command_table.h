#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace llmprof::cli
