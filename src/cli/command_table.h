#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmprof::cli {

class Arguments;

// What the command line consists of, said once: the parser, --help, the shell completions and the
// manual page are made from it.

// The kind of a value: what the parser accepts, and what a shell completes.
enum class Takes : uint8_t { nothing, text, number, file, folder, path };

// An option, or a positional argument.
struct OptionSpec {
  std::string_view name = {};     // "--out"; of an argument what help calls it: "PATH"
  std::string_view metavar = {};  // "DIR"; empty where it takes nothing, and of an argument
  Takes takes = Takes::nothing;
  std::string_view help = {};
  std::string_view group = {};                 // its heading in help; empty: "Options"
  std::vector<std::string_view> choices = {};  // for completion, and all there are unless is_open
  bool is_open = false;                        // other values than the choices are valid too
  std::string_view choices_of = {};            // a group of the configuration: files, or these
  int64_t least = 0;                           // of a number
  int64_t most = std::numeric_limits<int64_t>::max();
  bool repeatable = false;
  bool required = false;  // of an argument
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
  std::vector<OptionSpec> arguments = {};  // by place; the last may be repeatable
  std::vector<OptionSpec> options = {};
  bool takes_program = false;  // the words after `--` are another program's command line
  std::string_view notes = {};
};

std::span<const CommandSpec> all_commands();

// What every command takes.
std::span<const OptionSpec> common_options();

// What stands in place of a command: --version.
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

// Null where there is none of that name.
const CommandSpec* find_command(std::string_view name);

// "--out DIR", "--json", "-h, --help".
std::string option_synopsis(const OptionSpec& option);

// "PATH...", "[OVERRIDE...]", "PID": how an argument stands in a usage line.
std::string argument_synopsis(const OptionSpec& argument);

// "llmprof run [OVERRIDE...] [OPTIONS] [-- PROGRAM ARGUMENT...]".
std::string usage_line(const CommandSpec& command);

}  // namespace llmprof::cli
