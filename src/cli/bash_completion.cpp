#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_table.h"
#include "cli/table_texts.h"

namespace llmprof::cli {
namespace {

constexpr std::string_view kHead =
    R"(# bash completion of llmprof, made by `llmprof completion bash`.

_llmprof_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2"); }
_llmprof_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}
_llmprof_words_or_files() {
  _llmprof_files "$2"
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$1" -- "$2")
}
_llmprof_folders() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -d -- "$1")
}

_llmprof() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' word i
  COMPREPLY=()
  # To bash the = of --option=value is a word of its own.
  if [[ $current == = ]]; then
    current=''
  elif [[ $previous == = && $COMP_CWORD -ge 2 ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- ]]; then
      _llmprof_files "$current"
      [[ $previous != -- ]] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$current")
      return
    elif [[ -n $command ]]; then
      continue
    elif [[ $word == --color ]]; then
      [[ ${COMP_WORDS[i + 1]} != = ]] || ((++i))
      ((++i))
    elif [[ $word != -* ]]; then
      command=$word
    fi
  done
)";

constexpr std::string_view kTail = R"(}
complete -F _llmprof llmprof
)";

// What completes a value; empty where nothing can.
std::string values_of(const OptionSpec& option, std::span<const session::GroupChoices> groups) {
  if (!option.choices_of.empty()) {
    return fmt::format("_llmprof_words_or_files '{}' \"$current\"",
                       fmt::join(session::choices_in(groups, option.choices_of), " "));
  }
  if (!option.choices.empty()) {
    return fmt::format("_llmprof_words '{}' \"$current\"", fmt::join(option.choices, " "));
  }
  if (option.takes == Takes::folder) return "_llmprof_folders \"$current\"";
  const bool files = option.takes == Takes::file || option.takes == Takes::path;
  return files ? "_llmprof_files \"$current\"" : ":";
}

std::string names_of(std::span<const OptionSpec> options) {
  std::string names;
  for (const OptionSpec& option : options) {
    names += (names.empty() ? "" : " ") + std::string(option.name);
  }
  return names;
}

void add_values(std::string_view command, const OptionSpec& option,
                std::span<const session::GroupChoices> groups, std::string& script) {
  if (option.takes == Takes::nothing) return;
  script +=
      fmt::format("    {}:{}) {}; return ;;\n", command, option.name, values_of(option, groups));
}

// What stands at an argument's place.
std::string arguments_of(const CommandSpec& command,
                         std::span<const session::GroupChoices> groups) {
  if (!command.takes_program) {
    return command.arguments.empty() ? ":" : values_of(command.arguments.front(), groups);
  }
  std::string keys;
  for (const session::GroupChoices& group : groups) {
    keys += (keys.empty() ? "" : " ") + std::string(group.group) + '=';
  }
  return fmt::format("compopt -o nospace 2>/dev/null; _llmprof_words '{}' \"$current\"", keys);
}

}  // namespace

std::string bash_completion(std::span<const session::GroupChoices> groups) {
  std::string script(kHead);
  script += "  case $command:$previous in\n";
  for (const OptionSpec& option : common_options()) add_values("*", option, groups, script);
  for (const CommandSpec& command : all_commands()) {
    for (const OptionSpec& option : command.options)
      add_values(command.name, option, groups, script);
    if (!command.takes_program) continue;
    for (const session::GroupChoices& group : groups) {
      script += fmt::format("    {}:{}) _llmprof_words '{}' \"$current\"; return ;;\n",
                            command.name, group.group, fmt::join(group.choices, " "));
    }
  }
  script += "  esac\n";
  std::string commands;
  for (const CommandSpec& command : all_commands()) {
    commands += std::string(command.name) + ' ';
  }
  const std::string common = names_of(common_options());
  script += fmt::format(
      "  if [[ -z $command ]]; then\n    _llmprof_words '{}{} {}' \"$current\"\n    return\n  fi\n",
      commands, common, names_of(program_options()));
  script += "  if [[ $current == -* ]]; then\n    case $command in\n";
  for (const CommandSpec& command : all_commands()) {
    const std::string own = names_of(command.options);
    script += fmt::format("      {}) _llmprof_words '{}{}{}' \"$current\" ;;\n", command.name, own,
                          own.empty() ? "" : " ", common);
  }
  script += "    esac\n    return\n  fi\n  case $command in\n";
  for (const CommandSpec& command : all_commands()) {
    script += fmt::format("    {}) {} ;;\n", command.name, arguments_of(command, groups));
  }
  script += "  esac\n";
  script += kTail;
  return script;
}

}  // namespace llmprof::cli
