#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

// The shell command that completes a value; ":" if nothing can.
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

std::string names_of(const std::vector<OptionSpec>& options) {
  std::vector<std::string_view> names;
  for (const OptionSpec& option : options) names.push_back(option.name);
  return fmt::format("{}", fmt::join(names, " "));
}

void add_values(std::string_view command, const OptionSpec& option,
                std::span<const session::GroupChoices> groups, std::string& script) {
  if (option.takes == Takes::nothing) return;
  script +=
      fmt::format("    {}:{}) {}; return ;;\n", command, option.name, values_of(option, groups));
}

// The completion of positional arguments.
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

// Escapes text for single quotes in an argument of _arguments or _describe.
std::string zsh_escaped(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted;
}

std::string action_of(const OptionSpec& option) {
  if (!option.choices_of.empty()) return fmt::format("_llmprof_{}", option.choices_of);
  if (!option.choices.empty()) return fmt::format("({})", fmt::join(option.choices, " "));
  if (option.takes == Takes::folder) return "_files -/";
  return option.takes == Takes::file || option.takes == Takes::path ? "_files" : " ";
}

std::string option_argument(const OptionSpec& option) {
  if (option.takes == Takes::nothing) {
    const std::string also = option.name == "--help" ? "(-h --help)'{-h,--help}'" : option.name;
    return fmt::format("'{}[{}]'", also, zsh_escaped(option.help));
  }
  return fmt::format("'{}=[{}]:{}:{}'", option.name, zsh_escaped(option.help),
                     zsh_escaped(option.metavar), action_of(option));
}

// Adds a function that completes a file or a choice of this group, if an option takes them.
void add_group(const session::GroupChoices& group, std::string& script) {
  const auto& commands = command_table().commands;
  const bool wanted = std::ranges::any_of(commands, [&](const CommandSpec& command) {
    return std::ranges::any_of(
        command.options, [&](const OptionSpec& each) { return each.choices_of == group.group; });
  });
  if (!wanted) return;
  script +=
      fmt::format("_llmprof_{0}() {{\n  _alternative '{0}:{0}:({1})' 'files:file:_files'\n}}\n\n",
                  group.group, fmt::join(group.choices, " "));
}

void add_zsh_command(const CommandSpec& command, std::string& script) {
  script += fmt::format("    {})\n      _arguments $common", command.name);
  for (const OptionSpec& option : command.options) {
    script += " \\\n        " + option_argument(option);
  }
  for (const OptionSpec& argument : command.arguments) {
    const std::string action = command.takes_program ? "_llmprof_overrides" : action_of(argument);
    script += fmt::format(" \\\n        '{}:{}:{}'", argument.repeatable ? "*" : "1",
                          zsh_escaped(argument.name), action);
  }
  script += "\n      ;;\n";
}

}  // namespace

std::string bash_completion(std::span<const session::GroupChoices> groups) {
  const CommandTable& table = command_table();
  std::string script(kHead);
  script += "  case $command:$previous in\n";
  for (const OptionSpec& option : table.common_options) add_values("*", option, groups, script);
  for (const CommandSpec& command : table.commands) {
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
  for (const CommandSpec& command : table.commands) commands += command.name + ' ';
  const std::string common = names_of(table.common_options);
  script += fmt::format(
      "  if [[ -z $command ]]; then\n    _llmprof_words '{}{} {}' \"$current\"\n    return\n  fi\n",
      commands, common, names_of(table.program_options));
  script += "  if [[ $current == -* ]]; then\n    case $command in\n";
  for (const CommandSpec& command : table.commands) {
    const std::string own = names_of(command.options);
    script += fmt::format("      {}) _llmprof_words '{}{}{}' \"$current\" ;;\n", command.name, own,
                          own.empty() ? "" : " ", common);
  }
  script += "    esac\n    return\n  fi\n  case $command in\n";
  for (const CommandSpec& command : table.commands) {
    script += fmt::format("    {}) {} ;;\n", command.name, arguments_of(command, groups));
  }
  script += "  esac\n";
  script += kTail;
  return script;
}

std::string zsh_completion(std::span<const session::GroupChoices> groups) {
  const CommandTable& table = command_table();
  std::string script =
      "#compdef llmprof\n# zsh completion of llmprof, made by `llmprof completion zsh`.\n\n"
      "_llmprof_commands() {\n  local -a commands=(\n";
  for (const CommandSpec& command : table.commands) {
    script += fmt::format("    '{}:{}'\n", command.name, zsh_escaped(command.summary));
  }
  script +=
      "  )\n  _describe 'command' commands\n}\n\n_llmprof_overrides() {\n  local -a words=(\n";
  for (const session::GroupChoices& group : groups) {
    for (const std::string& choice : group.choices) {
      script += fmt::format("    '{}={}'\n", group.group, choice);
    }
  }
  script += "  )\n  compadd -a words\n}\n\n";
  for (const session::GroupChoices& group : groups) add_group(group, script);
  script +=
      "_llmprof() {\n  local context state state_descr line\n  typeset -A opt_args\n"
      "  local -a common=(\n";
  for (const OptionSpec& option : table.common_options) {
    script += "    " + option_argument(option) + '\n';
  }
  script += "  )\n  _arguments -C $common";
  for (const OptionSpec& option : table.program_options) script += ' ' + option_argument(option);
  script +=
      " \\\n    '1:command:_llmprof_commands' '*::argument:->arguments'\n"
      "  [[ $state == arguments ]] || return\n  case $words[1] in\n";
  for (const CommandSpec& command : table.commands) add_zsh_command(command, script);
  script +=
      "  esac\n}\n\n# Sourced it registers itself; as a file of $fpath it is the function's body.\n"
      "if [[ $funcstack[1] == _llmprof ]]; then\n  _llmprof \"$@\"\nelse\n"
      "  compdef _llmprof llmprof\nfi\n";
  return script;
}

}  // namespace llmprof::cli
