#include "cli/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/needed.h"
#include "base/text.h"
#include "config/config_tree.h"

namespace llmprof::cli {
namespace {

[[noreturn]] void misuse(const CommandSpec& command, std::string_view name, std::string_view what) {
  throw std::logic_error(fmt::format("the table's {} {} {}", command.name, name, what));
}

using Words = std::span<const std::string>;
using Values = std::map<std::string, std::vector<std::string>>;

[[noreturn]] void wrong_usage(std::string message) {
  give_up(ErrorKind::usage, std::move(message));
}

std::string_view option_name(std::string_view word) { return word.substr(0, word.find('=')); }

bool looks_like_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

// The valid words of a command line, or of the part before the command.
class Grammar {
 public:
  Grammar(const CommandSpec* command, std::span<const OptionSpec> own) : command_(command) {
    for (const OptionSpec& option : own) options_.push_back(&option);
    for (const OptionSpec& option : command_table().common_options) options_.push_back(&option);
  }

  // Fills `values` and returns the words that are not options, in order. Before the command, the
  // first of them ends the options.
  [[nodiscard]] std::vector<std::string> parse(Words words, Values& values) const {
    std::vector<std::string> rest;
    for (size_t i = 0; i < words.size(); ++i) {
      if (!looks_like_option(words[i]) || (command_ == nullptr && !rest.empty())) {
        rest.push_back(words[i]);
        continue;
      }
      const OptionSpec* option = find(words[i]);
      if (option == nullptr) refuse_option(to_printable(option_name(words[i])));
      std::vector<std::string>& given = values[option->name];
      const size_t equals = words[i].find('=');
      if (option->takes == Takes::nothing) {
        if (equals == std::string::npos) continue;
        wrong_usage(fmt::format("{} takes no value; {}", option->name, where_to_look()));
      }
      // An option in place of a value means that the value was forgotten.
      if (equals < words[i].size() - 1) {
        given.push_back(words[i].substr(equals + 1));
      } else if (equals == std::string::npos && i + 1 < words.size() &&
                 find(words[i + 1]) == nullptr) {
        given.push_back(words[++i]);
      } else {
        wrong_usage(fmt::format("{0} needs a value: {0} {1}; {2}", option->name, option->metavar,
                                where_to_look()));
      }
    }
    for (const OptionSpec* option : options_) {
      const auto given = values.find(option->name);
      if (given != values.end()) check_values(*option, given->second);
    }
    return rest;
  }

  // Assigns a command's positional arguments.
  void place(std::vector<std::string> words, Values& values) const {
    for (const OptionSpec& argument : command_->arguments) {
      const size_t count = argument.repeatable ? words.size() : std::min<size_t>(words.size(), 1);
      if (count == 0 && argument.required) {
        wrong_usage(
            fmt::format("{}: {} is missing; {}", command_->name, argument.name, where_to_look()));
      }
      if (count == 0) break;
      const auto end = words.begin() + static_cast<std::ptrdiff_t>(count);
      std::vector<std::string> own(words.begin(), end);
      words.erase(words.begin(), end);
      check_values(argument, own);
      values[argument.name] = std::move(own);
    }
    if (words.empty()) return;
    wrong_usage(fmt::format("{}: unexpected argument '{}'; {}", command_->name,
                            to_printable(words.front()), where_to_look()));
  }

 private:
  [[nodiscard]] std::string where_to_look() const {
    return command_ == nullptr ? "see `llmprof --help`"
                               : fmt::format("see `llmprof {} --help`", command_->name);
  }

  // The option of a word like "--out", "--out=x" or "-h"; null if there is none.
  [[nodiscard]] const OptionSpec* find(std::string_view word) const {
    const std::string_view name = word == "-h" ? "--help" : option_name(word);
    const auto found = std::ranges::find(options_, name, &OptionSpec::name);
    return found == options_.end() ? nullptr : *found;
  }

  void check_values(const OptionSpec& option, Words values) const {
    if (values.size() > 1 && !option.repeatable) {
      wrong_usage(
          fmt::format("{} is given {} times; {}", option.name, values.size(), where_to_look()));
    }
    for (const std::string& value : values) check_value(option, value);
  }

  void check_value(const OptionSpec& option, std::string_view value) const {
    const auto wrong = [&](std::string_view what) {
      wrong_usage(
          fmt::format("{}: '{}' {}; {}", option.name, to_printable(value), what, where_to_look()));
    };
    if (option.takes == Takes::number) {
      const auto number = parse_int(value);
      if (number && std::cmp_greater(*number, option.most)) {
        wrong(fmt::format("is larger than {}", option.most));
      }
      if (number && std::cmp_greater_equal(*number, option.least)) return;
      wrong(fmt::format("is not a whole number of at least {}", option.least));
    }
    const auto& choices = option.choices;
    const bool valid =
        choices.empty() || option.is_open || std::ranges::find(choices, value) != choices.end();
    if (valid) return;
    wrong_usage(fmt::format("{}: unknown value '{}'; available: {}{}", option.name,
                            to_printable(value), fmt::join(choices, ", "),
                            config::did_you_mean(value, choices)));
  }

  [[noreturn]] void refuse_option(const std::string& name) const {
    std::vector<std::string> names;
    names.reserve(options_.size());
    for (const OptionSpec* option : options_) names.push_back(option->name);
    std::string hint = config::did_you_mean(name, names);
    if (hint.empty()) hint = ";";
    wrong_usage(fmt::format("unknown option '{}'{}{} {}", name,
                            command_ == nullptr ? "" : fmt::format(" of {}", command_->name), hint,
                            where_to_look()));
  }

  const CommandSpec* command_;
  std::vector<const OptionSpec*> options_;
};

// Moves the values of common options to the line.
void take_common(ParsedLine& line) {
  line.help = line.values.erase("--help") > 0 || line.help;
  line.version = line.values.erase("--version") > 0 || line.version;
  const auto color = line.values.extract("--color");
  if (!color) return;
  const std::string& when = color.mapped().back();
  line.color = when == "always"  ? ColorWhen::always
               : when == "never" ? ColorWhen::never
                                 : ColorWhen::automatic;
}

const CommandSpec& command_named(const std::string& word) {
  if (const CommandSpec* command = find_command(word)) return *command;
  std::vector<std::string> names;
  for (const CommandSpec& command : command_table().commands) names.push_back(command.name);
  std::string hint = config::did_you_mean(word, names);
  if (hint.empty()) hint = fmt::format("; available: {}", fmt::join(names, ", "));
  wrong_usage(fmt::format("unknown command '{}'{}", to_printable(word), hint));
}

}  // namespace

const OptionSpec& Arguments::declared(std::string_view name) const {
  for (const auto* list : {&line_.command->options, &line_.command->arguments}) {
    for (const OptionSpec& option : *list) {
      if (option.name == name) return option;
    }
  }
  misuse(*line_.command, name, "does not exist");
}

const std::string* Arguments::last(std::string_view name) const {
  if (declared(name).takes == Takes::nothing) misuse(*line_.command, name, "takes no value");
  const auto found = line_.values.find(std::string(name));
  return found == line_.values.end() || found->second.empty() ? nullptr : &found->second.back();
}

bool Arguments::flag(std::string_view name) const {
  if (declared(name).takes != Takes::nothing) misuse(*line_.command, name, "takes a value");
  return line_.values.contains(std::string(name));
}

std::optional<std::string> Arguments::text(std::string_view name) const {
  const std::string* value = last(name);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<int64_t> Arguments::number(std::string_view name) const {
  if (declared(name).takes != Takes::number) misuse(*line_.command, name, "is not a number");
  const std::string* value = last(name);
  return value == nullptr ? std::nullopt : parse_int(*value);
}

std::vector<std::string> Arguments::all(std::string_view name) const {
  if (!declared(name).repeatable) misuse(*line_.command, name, "is given once");
  const auto found = line_.values.find(std::string(name));
  return found == line_.values.end() ? std::vector<std::string>() : found->second;
}

ParsedLine parse_line(Words words) {
  ParsedLine line;
  const auto dashes = std::ranges::find(words, "--");
  const auto before = static_cast<size_t>(dashes - words.begin());
  if (dashes != words.end()) line.program.assign(dashes + 1, words.end());
  words = words.first(before);

  const Grammar program(nullptr, command_table().program_options);
  auto rest = program.parse(words, line.values);
  take_common(line);
  if (rest.empty()) {
    if (line.help || line.version) return line;
    wrong_usage("a command is missing; see `llmprof --help`");
  }
  line.command = &command_named(rest.front());

  const Grammar grammar(line.command, line.command->options);
  rest = grammar.parse(Words(rest).subspan(1), line.values);
  take_common(line);
  if (line.help) return line;
  if (!line.program.empty() && !line.command->takes_program) {
    if (line.command->arguments.empty()) {
      wrong_usage(fmt::format("{} does not run a program; remove `--` and what follows",
                              line.command->name));
    }
    // After `--`, a file may have the name of an option.
    rest.insert(rest.end(), line.program.begin(), line.program.end());
    line.program.clear();
  }
  grammar.place(std::move(rest), line.values);
  return line;
}

}  // namespace llmprof::cli
