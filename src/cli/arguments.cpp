#include "cli/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <stdexcept>

#include "base/text.h"

namespace llmprof::cli {
namespace {

[[noreturn]] void misuse(const CommandSpec& command, std::string_view name, std::string_view what) {
  throw std::logic_error(fmt::format("the table's {} {} {}", command.name, name, what));
}

using Words = std::span<const std::string>;
using Values = std::map<std::string, std::vector<std::string>>;

tl::unexpected<Error> wrong_usage(std::string message) {
  return fail(ErrorKind::usage, std::move(message));
}

std::string meant(std::string_view wanted, std::span<const std::string_view> candidates) {
  const auto near = nearest(wanted, candidates);
  return near ? fmt::format("; did you mean '{}'?", *near) : std::string();
}

std::string_view option_name(std::string_view word) { return word.substr(0, word.find('=')); }

bool looks_like_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

// What a line, or the part of it before the command, may consist of.
class Grammar {
 public:
  Grammar(const CommandSpec* command, std::initializer_list<std::span<const OptionSpec>> lists)
      : command_(command) {
    for (const auto& list : lists) {
      for (const OptionSpec& option : list) options_.push_back(&option);
    }
  }

  // Fills `values` and returns the words that are not options, in order.
  Result<std::vector<std::string>> parse(Words words, Values& values) const {
    if (auto valid = check_words(words); !valid) return fail_with(valid.error());
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    std::deque<bool> flags(options_.size());
    std::deque<std::vector<std::string>> texts(options_.size());
    for (size_t i = 0; i < options_.size(); ++i) {
      const std::string name(options_[i]->name);
      if (options_[i]->takes == Takes::nothing) {
        app.add_flag(name == "--help" ? "-h,--help" : name, flags[i]);
      } else {
        app.add_option(name, texts[i])
            ->expected(1)
            ->allow_extra_args(false)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      }
    }
    try {
      app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& error) {
      return wrong_usage(fmt::format("{}; {}", error.what(), where_to_look()));
    }
    for (size_t i = 0; i < options_.size(); ++i) {
      if (!flags[i] && texts[i].empty()) continue;
      if (auto valid = check_values(*options_[i], texts[i]); !valid) {
        return fail_with(valid.error());
      }
      values[std::string(options_[i]->name)] = std::move(texts[i]);
    }
    return plain_words(app.remaining());
  }

  // The arguments by place, of a command.
  Result<void> place(std::vector<std::string> words, Values& values) const {
    for (const OptionSpec& argument : command_->arguments) {
      const size_t count = argument.repeatable ? words.size() : std::min<size_t>(words.size(), 1);
      if (count == 0 && argument.required) {
        return wrong_usage(
            fmt::format("{}: {} is missing; {}", command_->name, argument.name, where_to_look()));
      }
      if (count == 0) break;
      const auto end = words.begin() + static_cast<std::ptrdiff_t>(count);
      std::vector<std::string> own(words.begin(), end);
      words.erase(words.begin(), end);
      if (auto valid = check_values(argument, own); !valid) return valid;
      values[std::string(argument.name)] = std::move(own);
    }
    if (words.empty()) return {};
    return wrong_usage(fmt::format("{}: unexpected argument '{}'; {}", command_->name,
                                   to_printable(words.front()), where_to_look()));
  }

 private:
  [[nodiscard]] std::string where_to_look() const {
    return command_ == nullptr ? "see `llmprof --help`"
                               : fmt::format("see `llmprof {} --help`", command_->name);
  }

  [[nodiscard]] const OptionSpec* find(std::string_view name) const {
    const auto found =
        std::ranges::find_if(options_, [&](const OptionSpec* each) { return each->name == name; });
    return found == options_.end() ? nullptr : *found;
  }

  // An option where a value should be is a value that was forgotten.
  [[nodiscard]] Result<void> check_words(Words words) const {
    for (size_t i = 0; i < words.size(); ++i) {
      const OptionSpec* option = find(words[i]);
      if (option == nullptr || option->takes == Takes::nothing) continue;
      const bool missing = i + 1 == words.size() || find(option_name(words[i + 1])) != nullptr;
      if (missing) {
        return wrong_usage(fmt::format("{0} needs a value: {0} {1}; {2}", option->name,
                                       option->metavar, where_to_look()));
      }
      ++i;
    }
    return {};
  }

  [[nodiscard]] Result<void> check_values(const OptionSpec& option, Words values) const {
    if (values.size() > 1 && !option.repeatable) {
      return wrong_usage(
          fmt::format("{} is given {} times; {}", option.name, values.size(), where_to_look()));
    }
    for (const std::string& value : values) {
      if (auto valid = check_value(option, value); !valid) return valid;
    }
    return {};
  }

  [[nodiscard]] Result<void> check_value(const OptionSpec& option, std::string_view value) const {
    const auto wrong = [&](std::string_view what) {
      return wrong_usage(
          fmt::format("{}: '{}' {}; {}", option.name, to_printable(value), what, where_to_look()));
    };
    if (option.takes == Takes::number) {
      const auto number = parse_int(value);
      if (number && *number >= option.least && *number <= option.most) return {};
      if (number && *number > option.most) {
        return wrong(fmt::format("is larger than {}", option.most));
      }
      return wrong(fmt::format("is not a whole number of at least {}", option.least));
    }
    const auto& choices = option.choices;
    const bool valid =
        choices.empty() || option.is_open || std::ranges::find(choices, value) != choices.end();
    if (valid) return {};
    return wrong_usage(fmt::format("{}: unknown value '{}'; available: {}{}", option.name,
                                   to_printable(value), fmt::join(choices, ", "),
                                   meant(value, choices)));
  }

  // What no option took: options that do not exist are found here.
  [[nodiscard]] Result<std::vector<std::string>> plain_words(std::vector<std::string> rest) const {
    for (const std::string& word : rest) {
      if (!looks_like_option(word)) continue;
      const std::string name = to_printable(option_name(word));
      std::vector<std::string_view> names;
      names.reserve(options_.size());
      for (const OptionSpec* option : options_) names.push_back(option->name);
      return wrong_usage(
          fmt::format("unknown option '{}'{}{} {}", name,
                      command_ == nullptr ? "" : fmt::format(" of {}", command_->name),
                      meant_or_semicolon(name, names), where_to_look()));
    }
    return rest;
  }

  static std::string meant_or_semicolon(std::string_view name,
                                        std::span<const std::string_view> names) {
    const std::string suggestion = meant(name, names);
    return suggestion.empty() ? ";" : suggestion;
  }

  const CommandSpec* command_;
  std::vector<const OptionSpec*> options_;
};

// Options may stand before the command; the first word that is neither one of them nor its value is
// the command.
size_t command_place(Words words) {
  size_t i = 0;
  while (i < words.size() && looks_like_option(words[i])) {
    const auto options = common_options();
    const bool takes_next = std::ranges::any_of(options, [&](const OptionSpec& option) {
      return option.name == words[i] && option.takes != Takes::nothing;
    });
    i += takes_next ? 2 : 1;
  }
  return std::min(i, words.size());
}

void take_common(Values& values, ParsedLine& line) {
  line.help = line.help || values.contains("--help");
  line.version = line.version || values.contains("--version");
  if (const auto color = values.find("--color"); color != values.end()) {
    line.color = parse_color(color->second.back()).value_or(ColorWhen::automatic);
  }
  for (const char* name : {"--help", "--version", "--color"}) values.erase(name);
}

Error unknown_command(const std::string& word) {
  std::vector<std::string_view> names;
  for (const CommandSpec& command : all_commands()) {
    names.push_back(command.name);
  }
  const std::string suggestion = meant(word, names);
  return {ErrorKind::usage,
          suggestion.empty()
              ? fmt::format("unknown command '{}'; available: {}", to_printable(word),
                            fmt::join(names, ", "))
              : fmt::format("unknown command '{}'{}", to_printable(word), suggestion)};
}

}  // namespace

const OptionSpec& Arguments::declared(std::string_view name) const {
  for (const auto* list : {&command_->options, &command_->arguments}) {
    for (const OptionSpec& option : *list) {
      if (option.name == name) return option;
    }
  }
  misuse(*command_, name, "does not exist");
}

const std::string* Arguments::last(std::string_view name) const {
  if (declared(name).takes == Takes::nothing) misuse(*command_, name, "takes no value");
  const auto found = values_.find(std::string(name));
  return found == values_.end() || found->second.empty() ? nullptr : &found->second.back();
}

bool Arguments::flag(std::string_view name) const {
  if (declared(name).takes != Takes::nothing) misuse(*command_, name, "takes a value");
  return values_.contains(std::string(name));
}

std::optional<std::string> Arguments::text(std::string_view name) const {
  const std::string* value = last(name);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<std::filesystem::path> Arguments::path(std::string_view name) const {
  const std::string* value = last(name);
  return value == nullptr ? std::nullopt : std::optional<std::filesystem::path>(*value);
}

std::optional<int64_t> Arguments::number(std::string_view name) const {
  if (declared(name).takes != Takes::number) misuse(*command_, name, "is no number");
  const std::string* value = last(name);
  return value == nullptr ? std::nullopt : parse_int(*value);
}

std::vector<std::string> Arguments::all(std::string_view name) const {
  if (!declared(name).repeatable) misuse(*command_, name, "is given once");
  const auto found = values_.find(std::string(name));
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

Result<ParsedLine> parse_line(Words words) {
  ParsedLine line;
  const auto dashes = std::ranges::find(words, "--");
  const auto before = static_cast<size_t>(dashes - words.begin());
  if (dashes != words.end()) line.program.assign(dashes + 1, words.end());
  words = words.first(before);

  const size_t place = command_place(words);
  Values values;
  const Grammar program(nullptr, {common_options(), program_options()});
  if (auto rest = program.parse(words.first(place), values); !rest) return fail_with(rest.error());
  take_common(values, line);
  if (place == words.size()) {
    if (line.help || line.version) return line;
    return wrong_usage("a command is missing; see `llmprof --help`");
  }
  line.command = find_command(words[place]);
  if (line.command == nullptr) return fail_with(unknown_command(words[place]));

  const Grammar grammar(line.command, {line.command->options, common_options()});
  auto rest = grammar.parse(words.subspan(place + 1), line.values);
  if (!rest) return fail_with(rest.error());
  take_common(line.values, line);
  if (line.help) return line;
  if (!line.program.empty() && !line.command->takes_program) {
    if (line.command->arguments.empty()) {
      return wrong_usage(fmt::format("{} does not run a program; remove `--` and what follows",
                                     line.command->name));
    }
    // Behind `--` a file may be called like an option.
    rest->insert(rest->end(), line.program.begin(), line.program.end());
    line.program.clear();
  }
  if (auto placed = grammar.place(std::move(*rest), line.values); !placed) {
    return fail_with(placed.error());
  }
  return line;
}

}  // namespace llmprof::cli
