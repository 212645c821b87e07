#include "cli/arguments.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/text.h"

namespace llmprof::cli {
namespace {

[[noreturn]] void misuse(const CommandSpec& command, std::string_view name, std::string_view what) {
  throw std::logic_error(fmt::format("the table's {} {} {}", command.name, name, what));
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

}  // namespace llmprof::cli
