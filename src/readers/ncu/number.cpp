#include "readers/ncu/number.h"

#include <optional>
#include <string>

#include "base/text.h"

namespace llmprof::readers {
namespace {

constexpr size_t kMostDigits = 19;  // fit in 64 bits

// Optional groups of thousands, then an optional fraction; without groups also an exponent.
bool scan(std::string_view text, DecimalConvention convention, double& value) {
  const char group = convention == DecimalConvention::point ? ',' : '.';
  const char point = convention == DecimalConvention::point ? '.' : ',';
  std::string plain;
  uint64_t number = 0;
  size_t count = 0;
  size_t in_group = 0;  // digits since it started
  size_t fraction = 0;
  bool grouped = false;
  bool whole = true;
  bool exponent = false;
  for (const char c : text) {
    const bool ends_group = whole && !is_digit(c);
    if (ends_group && grouped && in_group != 3) return false;
    if (is_digit(c)) {
      number = number * 10 + static_cast<uint64_t>(c - '0');
      ++count;
      ++(whole ? in_group : fraction);
    } else if (c == group && whole) {
      if (in_group == 0 || in_group > 3 || text.front() == '0') return false;
      grouped = true;
      in_group = 0;
    } else if (c == point && whole) {
      whole = false;
    } else if (!grouped && std::string_view("eE+-").find(c) != std::string_view::npos) {
      whole = false;
      exponent = true;
    } else {
      return false;
    }
    plain += c == point ? '.' : c;
  }
  if (whole && grouped && in_group != 3) return false;
  if (!exponent && count > 0 && count <= kMostDigits) {
    value = static_cast<double>(number) * kInversePowersOfTen[fraction];
    return true;
  }
  const auto exact = grouped ? std::nullopt : parse_decimal(plain);
  if (!exact || !(*exact < 1e300)) return false;
  value = *exact;
  return true;
}

bool starts_like_number(std::string_view text) {
  return !text.empty() && (is_digit(text.front()) || text.front() == '.' || text.front() == ',');
}

// Removes separators between digits that no convention uses as a decimal sign.
std::string without_spacing(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.front() == ' ' || rest.front() == '\'') continue;
    if (rest.starts_with("\xC2\xA0")) {
      i += 1;
    } else if (rest.starts_with("\xE2\x80\xAF") || rest.starts_with("\xE2\x80\x99")) {
      i += 2;
    } else {
      plain += rest.front();
    }
  }
  return plain;
}

NcuNumber parse_unusual(std::string_view cell, DecimalConvention convention, double& value) {
  constexpr size_t kLongest = 64;
  std::string_view text = trim(cell);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (!starts_like_number(text)) return NcuNumber::none;
  text = trim(text.substr(0, text.find(" (")));
  if (text.ends_with('%')) text = trim(text.substr(0, text.size() - 1));
  if (text.size() > kLongest) return NcuNumber::none;
  const std::string plain = without_spacing(text);
  if (scan(plain, convention, value)) {
    if (negative) value = -value;
    return NcuNumber::value;
  }
  const auto other =
      convention == DecimalConvention::point ? DecimalConvention::comma : DecimalConvention::point;
  double ignored = 0;
  return scan(plain, other, ignored) ? NcuNumber::other_convention : NcuNumber::none;
}

}  // namespace

NcuNumber parse_ncu_number(std::string_view cell, DecimalConvention convention, double& value) {
  if (scan(cell, convention, value)) return NcuNumber::value;
  return parse_unusual(cell, convention, value);
}

}  // namespace llmprof::readers
