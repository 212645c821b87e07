#include "readers/requests/request_values.h"

#include <charconv>
#include <cmath>

#include "readers/requests/request_rows.h"

namespace llmprof::readers {
namespace {

constexpr double kLargestWhole = 9007199254740992.0;  // 2^53: doubles are exact up to here

}  // namespace

std::optional<uint64_t> whole_number(const simdjson::dom::element& value) {
  uint64_t number = 0;
  if (value.get(number) == simdjson::SUCCESS) return number;
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return std::nullopt;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == end;
  return whole ? std::optional(number) : std::nullopt;
}

std::optional<simdjson::dom::element> RequestValues::find(std::string_view key) const {
  simdjson::dom::element value;
  if (object_.at_key(key).get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
  return value;
}

template <class Value>
std::optional<Value> RequestValues::take(std::string_view key) {
  const auto found = find(key);
  if (!found) return std::nullopt;
  Value value;
  if (found->get(value) == simdjson::SUCCESS) return value;
  valid_ = false;
  return std::nullopt;
}

std::optional<double> RequestValues::number(std::string_view key) { return take<double>(key); }

Nanoseconds RequestValues::seconds(std::string_view key) {
  const auto value = number(key);
  if (!value) return trace::kNoTime;
  const Nanoseconds time = nanoseconds_of_seconds(*value);
  if (time < 0) valid_ = false;
  return time;
}

Nanoseconds RequestValues::nanoseconds(std::string_view key) {
  const uint64_t value = count(key);
  if (value == trace::kNoCount) return trace::kNoTime;
  if (value <= INT64_MAX) return static_cast<Nanoseconds>(value);
  valid_ = false;
  return trace::kNoTime;
}

uint64_t RequestValues::count(std::string_view key) {
  const auto found = find(key);
  if (!found) return trace::kNoCount;
  if (const auto whole = whole_number(*found)) return *whole;
  double value = 0;
  const bool is_number = found->get(value) == simdjson::SUCCESS;
  if (is_number && value >= 0 && value <= kLargestWhole && value == std::floor(value)) {
    return static_cast<uint64_t>(value);
  }
  valid_ = false;
  return trace::kNoCount;
}

std::string_view RequestValues::text(std::string_view key) {
  return take<std::string_view>(key).value_or(std::string_view());
}

bool RequestValues::flag(std::string_view key) { return take<bool>(key).value_or(false); }

std::optional<simdjson::dom::object> RequestValues::object(std::string_view key) {
  return take<simdjson::dom::object>(key);
}

std::optional<simdjson::dom::array> RequestValues::array(std::string_view key) {
  return take<simdjson::dom::array>(key);
}

}  // namespace llmprof::readers
