#include "analysis/budget/api_name.h"

#include <algorithm>

namespace llmprof::analysis {
namespace {

constexpr size_t kVersionDigits = 4;  // cuGetProcAddress_v2 is the driver's own name

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string_view plain_api_name(std::string_view api) {
  const size_t suffix = api.rfind("_v");
  if (suffix == std::string_view::npos) return api;
  const std::string_view digits = api.substr(suffix + 2);
  const bool version =
      digits.size() >= kVersionDigits && std::all_of(digits.begin(), digits.end(), is_digit);
  return version ? api.substr(0, suffix) : api;
}

}  // namespace llmprof::analysis
