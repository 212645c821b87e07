#include "readers/ncu/nvtx.h"

#include <algorithm>

#include "base/text.h"

namespace llmprof::readers {
namespace {

constexpr std::string_view kDefaultDomain = "<default domain>";
// Payload type and value, color type and value, message type and value follow the name.
constexpr std::string_view kNoAttributes = ":none:none:none:none:none:none";
constexpr int kAttributeCount = 6;

std::string_view without_attributes(std::string_view item) {
  if (item.ends_with(kNoAttributes)) return item.substr(0, item.size() - kNoAttributes.size());
  for (int i = 0; i < kAttributeCount; ++i) {
    const size_t colon = item.rfind(':');
    if (colon == std::string_view::npos || colon < item.find(':')) return item;
    if (colon == item.find(':')) return item;
    item = item.substr(0, colon);
  }
  return item;
}

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void append_range(std::string_view item, std::string& ranges) {
  size_t colon = item.find(':');
  if (colon != std::string_view::npos && is_number(trim(item.substr(0, colon)))) {
    item.remove_prefix(colon + 1);
  }
  item = without_attributes(item);
  colon = item.find(':');
  std::string_view domain;
  std::string_view name = item;
  if (colon != std::string_view::npos) {
    domain = trim(item.substr(0, colon));
    name = item.substr(colon + 1);
  }
  name = trim(name);
  if (name.empty()) return;
  if (!ranges.empty()) ranges += '/';
  if (!domain.empty() && domain != kDefaultDomain) {
    ranges += domain;
    ranges += '@';
  }
  ranges += to_printable(name);
}

void append_cell(std::string_view cell, std::string& ranges) {
  size_t open = cell.find('"');
  if (open == std::string_view::npos) {
    cell = trim(cell);
    if (contains(cell, ":")) append_range(cell, ranges);
    return;
  }
  while (open != std::string_view::npos) {
    const size_t close = cell.find('"', open + 1);
    if (close == std::string_view::npos) return;
    append_range(cell.substr(open + 1, close - open - 1), ranges);
    open = cell.find('"', close + 1);
  }
}

}  // namespace

std::string ncu_ranges(std::string_view push_pop, std::string_view start_stop) {
  std::string ranges;
  append_cell(start_stop, ranges);
  append_cell(push_pop, ranges);
  return ranges;
}

}  // namespace llmprof::readers
