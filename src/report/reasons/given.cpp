#include "report/reasons/given.h"
#include "base/text.h"

#include <fmt/format.h>

namespace llmprof::report {

bool Given::has(std::string_view name) const {
  return profile::find_value(values_, name) != nullptr;
}

bool Given::flag(std::string_view name) const { return profile::has_flag(values_, name); }

double Given::number(std::string_view name) const {
  return profile::find_number(values_, name).value_or(0);
}

uint64_t Given::count(std::string_view name) const { return static_cast<uint64_t>(number(name)); }

std::string Given::text(std::string_view name) const {
  return profile::find_text(values_, name).value_or("");
}

std::string Given::source(std::string_view name) const {
  const profile::FindingValue* found = profile::find_value(values_, name);
  return found == nullptr ? std::string() : found->text.value_or("");
}

std::string Given::counted(std::string_view name, std::string_view one) const {
  return fmt::format("{} {}", count(name), plural_of(count(name), one));
}

std::string Given::with_source(std::string_view name) const {
  return fmt::format("{} ({})", count(name), source(name));
}

std::string Given::whole_percent(std::string_view name) const {
  constexpr double kPercent = 100;
  return fmt::format("{:.0f} %", quantity<profile::Share>(name).value * kPercent);
}

}  // namespace llmprof::report
