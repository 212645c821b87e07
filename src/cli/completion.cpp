#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/command_table.h"

namespace llmprof::cli {
namespace {

using Groups = std::span<const session::GroupChoices>;

struct Gap {
  std::string_view name;  // {{name}} in the script
  std::string text;
};

std::string filled(std::string_view script, const std::vector<Gap>& gaps) {
  std::string text(script);
  for (const Gap& gap : gaps) {
    const std::string mark = fmt::format("{{{{{}}}}}", gap.name);
    text.replace(text.find(mark), mark.size(), gap.text);
  }
  return text;
}

// The texts of all rows, one after the other.
template <class Rows, class TextOf>
std::string texts_of(const Rows& rows, TextOf text_of) {
  std::string all;
  for (const auto& row : rows) all += text_of(row);
  return all;
}

// Of commands or options.
template <class Row>
std::string names_of(const std::vector<Row>& rows) {
  std::vector<std::string_view> names;
  names.reserve(rows.size());
  for (const Row& row : rows) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, " "));
}

// The shell command that completes a value; ":" if nothing can.
std::string values_of(const OptionSpec& option, Groups groups) {
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

std::string cases_of_values(std::string_view command, const std::vector<OptionSpec>& options,
                            Groups groups) {
  return texts_of(options, [&](const OptionSpec& option) {
    if (option.takes == Takes::nothing) return std::string();
    return fmt::format("    {}:{}) {}; return ;;\n", command, option.name,
                       values_of(option, groups));
  });
}

std::string cases_of_values(const CommandSpec& command, Groups groups) {
  std::string options = cases_of_values(command.name, command.options, groups);
  if (!command.takes_program) return options;
  return options + texts_of(groups, [&](const session::GroupChoices& group) {
           return fmt::format("    {}:{}) _llmprof_words '{}' \"$current\"; return ;;\n",
                              command.name, group.group, fmt::join(group.choices, " "));
         });
}

// The completion of positional arguments.
std::string arguments_of(const CommandSpec& command, Groups groups) {
  if (!command.takes_program) {
    return command.arguments.empty() ? ":" : values_of(command.arguments.front(), groups);
  }
  std::vector<std::string_view> keys;
  for (const session::GroupChoices& group : groups) keys.push_back(group.group);
  return fmt::format("compopt -o nospace 2>/dev/null; _llmprof_words '{}=' \"$current\"",
                     fmt::join(keys, "= "));
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

// A function that completes a file or a choice of this group; empty if no option takes them.
std::string function_of(const session::GroupChoices& group) {
  const auto& commands = command_table().commands;
  const bool wanted = std::ranges::any_of(commands, [&](const CommandSpec& command) {
    return std::ranges::find(command.options, group.group, &OptionSpec::choices_of) !=
           command.options.end();
  });
  if (!wanted) return {};
  return fmt::format(
      "_llmprof_{0}() {{\n  _alternative '{0}:{0}:({1})' 'files:file:_files'\n}}\n\n", group.group,
      fmt::join(group.choices, " "));
}

std::string zsh_case(const CommandSpec& command) {
  std::string text = fmt::format("    {})\n      _arguments $common", command.name);
  for (const OptionSpec& option : command.options) {
    text += " \\\n        " + option_argument(option);
  }
  for (const OptionSpec& argument : command.arguments) {
    const std::string action = command.takes_program ? "_llmprof_overrides" : action_of(argument);
    text += fmt::format(" \\\n        '{}:{}:{}'", argument.repeatable ? "*" : "1",
                        zsh_escaped(argument.name), action);
  }
  return text + "\n      ;;\n";
}

}  // namespace

std::string bash_completion(Groups groups) {
  const CommandTable& table = command_table();
  const std::string common = names_of(table.common_options);
  return filled(
      kBashScript,
      {{"values", cases_of_values("*", table.common_options, groups) +
                      texts_of(table.commands,
                               [&](const auto& each) { return cases_of_values(each, groups); })},
       {"commands", names_of(table.commands)},
       {"common", common},
       {"program", names_of(table.program_options)},
       {"options", texts_of(table.commands,
                            [&](const CommandSpec& command) {
                              const std::string own = names_of(command.options);
                              return fmt::format(
                                  "      {}) _llmprof_words '{}{}{}' \"$current\" ;;\n",
                                  command.name, own, own.empty() ? "" : " ", common);
                            })},
       {"arguments", texts_of(table.commands, [&](const CommandSpec& command) {
          return fmt::format("    {}) {} ;;\n", command.name, arguments_of(command, groups));
        })}});
}

std::string zsh_completion(Groups groups) {
  const CommandTable& table = command_table();
  const auto overrides = [](const session::GroupChoices& group) {
    return texts_of(group.choices, [&](const std::string& choice) {
      return fmt::format("    '{}={}'\n", group.group, choice);
    });
  };
  return filled(
      kZshScript,
      {{"summaries", texts_of(table.commands,
                              [](const CommandSpec& command) {
                                return fmt::format("    '{}:{}'\n", command.name,
                                                   zsh_escaped(command.summary));
                              })},
       {"overrides", texts_of(groups, overrides)},
       {"groups", texts_of(groups, function_of)},
       {"common", texts_of(table.common_options,
                           [](const auto& each) { return "    " + option_argument(each) + '\n'; })},
       {"program", texts_of(table.program_options,
                            [](const auto& each) { return ' ' + option_argument(each); })},
       {"commands", texts_of(table.commands, zsh_case)}});
}

}  // namespace llmprof::cli
