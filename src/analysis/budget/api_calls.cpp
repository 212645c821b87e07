#include "analysis/budget/api_calls.h"

#include <algorithm>

namespace llmprof::analysis {
namespace {

constexpr uint8_t kNo = 1;
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

bool is_synchronising(std::string_view api) {
  if (api.find("Synchronize") != std::string_view::npos) return true;
  const bool copies = api.starts_with("cudaMemcpy") || api.starts_with("cuMemcpy");
  return copies && api.find("Async") == std::string_view::npos;
}

SynchronisingCalls::SynchronisingCalls(const trace::Trace& trace)
    : answers_(trace.strings.size(), 0) {
  for (const trace::StringId api : trace.launches.api) {
    if (!api.valid() || answers_[api.index()] != 0) continue;
    answers_[api.index()] = is_synchronising(trace.strings[api]) ? kYes : kNo;
  }
}

}  // namespace llmprof::analysis
