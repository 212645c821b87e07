#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmprof::cli {

class Arguments;

// The definition of the command line. The parser, --help, the shell completions and the manual page
// are generated from it.

// The kind of a value: the parser checks it, and shells complete it.
enum class Takes : uint8_t { nothing, text, number, file, folder, path };

// An option, or a positional argument.
struct OptionSpec {
  std::string_view name = {};     // "--out"; for an argument, its name in help: "PATH"
  std::string_view metavar = {};  // "DIR"; empty for flags and positional arguments
  Takes takes = Takes::nothing;
  std::string_view help = {};
  std::string_view group = {};                 // its heading in help; empty: "Options"
  std::vector<std::string_view> choices = {};  // for completion; exclusive unless is_open
  bool is_open = false;                        // values other than the choices are valid too
  std::string_view choices_of = {};            // a configuration group: files or its choices
  int64_t least = 0;                           // for a number
  int64_t most = std::numeric_limits<int64_t>::max();
  bool repeatable = false;
  bool required = false;  // for an argument
};

struct Example {
  std::string_view command;  // ready to paste
  std::string_view about = {};
};

struct CommandSpec {
  std::string_view name = {};
  std::string_view summary = {};
  int (*run)(const Arguments&) = nullptr;
  std::vector<Example> examples = {};
  std::vector<OptionSpec> arguments = {};  // positional; the last may be repeatable
  std::vector<OptionSpec> options = {};
  bool takes_program = false;  // the words after `--` are another program's command line
  std::string_view notes = {};
};

std::span<const CommandSpec> all_commands();

// Options of every command.
std::span<const OptionSpec> common_options();

// Options without a command: --version.
std::span<const OptionSpec> program_options();

// The environment variables that llmprof itself reads.
struct VariableSpec {
  std::string_view name;
  std::string_view help = {};
};
std::span<const VariableSpec> environment_variables();

struct ExitCodeSpec {
  int code = 0;
  std::string_view meaning;
};
std::span<const ExitCodeSpec> exit_codes();

inline constexpr std::string_view kProgramSummary =
    "A deep profiler for LLM inference on NVIDIA GPUs";

// Null if there is no such command.
const CommandSpec* find_command(std::string_view name);

// "--out DIR", "--json", "-h, --help".
std::string option_synopsis(const OptionSpec& option);

// "PATH...", "[OVERRIDE...]", "PID": an argument in a usage line.
std::string argument_synopsis(const OptionSpec& argument);

// "llmprof run [OVERRIDE...] [OPTIONS] [-- PROGRAM ARGUMENT...]".
std::string usage_line(const CommandSpec& command);

}  // namespace llmprof::cli
