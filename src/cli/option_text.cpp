#include "cli/option_text.h"

namespace llmprof::cli {

std::string option_synopsis(const OptionSpec& option) {
  std::string text = option.name == "--help" ? "-h, " : "";
  text += option.name;
  if (!option.metavar.empty()) text += ' ' + std::string(option.metavar);
  return text;
}

std::string argument_synopsis(const OptionSpec& argument) {
  const std::string text = std::string(argument.name) + (argument.repeatable ? "..." : "");
  return argument.required ? text : '[' + text + ']';
}

std::string usage_line(const CommandSpec& command) {
  std::string line = "llmprof " + std::string(command.name);
  for (const OptionSpec& argument : command.arguments) line += ' ' + argument_synopsis(argument);
  if (!command.options.empty()) line += " [OPTIONS]";
  if (command.takes_program) line += " [-- PROGRAM ARGUMENT...]";
  return line;
}

}  // namespace llmprof::cli
