#include "readers/nsys_csv/range_names.h"

namespace llmprof::readers::nsys_csv {
namespace {

bool could_be_a_domain(std::string_view before, std::string_view behind) {
  if (before.empty() || behind.empty() || behind.front() == ':' || behind.front() == ' ') {
    return false;
  }
  return before.find_first_of(" /(<[=,;") == std::string_view::npos;
}

}  // namespace

RangeName RangeNames::split(std::string_view name) const {
  const size_t colon = name.find(':');
  if (colon == std::string_view::npos) return {{}, name};
  const std::string_view before = name.substr(0, colon);
  const std::string_view behind = name.substr(colon + 1);
  if (colon == 0 || colon_always_ || could_be_a_domain(before, behind)) return {before, behind};
  return {{}, name};
}

}  // namespace llmprof::readers::nsys_csv
