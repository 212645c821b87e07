#include "readers/ncu/number.h"

#include <array>
#include <string>

#include "base/text.h"

namespace llmprof::readers {
namespace {

constexpr std::array<double, 20> kNegativePowersOfTen = {
    1e0,   1e-1,  1e-2,  1e-3,  1e-4,  1e-5,  1e-6,  1e-7,  1e-8,  1e-9,
    1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 1e-16, 1e-17, 1e-18, 1e-19};
constexpr size_t kMostDigits = 19;  // fit 64 bits

struct Digits {
  const char* at;
  const char* end;
  uint64_t value = 0;

  size_t run() {
    const char* const begin = at;
    uint64_t sum = value;
    while (at != end && is_digit(*at)) sum = sum * 10 + static_cast<uint64_t>(*at++ - '0');
    value = sum;
    return static_cast<size_t>(at - begin);
  }
};

template <char kGroup, char kPoint>
bool scan(std::string_view text, double& value) {
  if (text.empty() || text.size() > kMostDigits + 8) return false;
  Digits digits{text.data(), text.data() + text.size()};
  size_t count = digits.run();
  if (digits.at != digits.end && *digits.at == kGroup) {
    if (count == 0 || count > 3 || text.front() == '0') return false;
    while (digits.at != digits.end && *digits.at == kGroup) {
      ++digits.at;
      if (digits.run() != 3) return false;
      count += 3;
    }
  }
  size_t fraction = 0;
  if (digits.at != digits.end && *digits.at == kPoint) {
    ++digits.at;
    fraction = digits.run();
    count += fraction;
  }
  if (digits.at != digits.end || count == 0 || count > kMostDigits) return false;
  value = static_cast<double>(digits.value);
  if (fraction > 0) value *= kNegativePowersOfTen[fraction];
  return true;
}

bool scan(std::string_view text, DecimalConvention convention, double& value) {
  return convention == DecimalConvention::point ? scan<',', '.'>(text, value)
                                                : scan<'.', ','>(text, value);
}

bool starts_like_number(std::string_view text) {
  return !text.empty() && (is_digit(text.front()) || text.front() == '.' || text.front() == ',');
}

// Takes the separators between digits that no convention uses as decimal sign.
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

bool scan_scientific(std::string_view text, DecimalConvention convention, double& value) {
  std::string plain(text);
  for (char& c : plain) {
    if (c == (convention == DecimalConvention::point ? '.' : ',')) {
      c = '.';
    } else if (!is_digit(c) && c != 'e' && c != 'E' && c != '+' && c != '-') {
      return false;
    }
  }
  const auto number = parse_decimal(plain);
  if (!number || !(*number < 1e300)) return false;
  value = *number;
  return true;
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
  const auto read = [&](DecimalConvention as, double& into) {
    return scan(plain, as, into) || scan_scientific(plain, as, into);
  };
  if (read(convention, value)) {
    if (negative) value = -value;
    return NcuNumber::value;
  }
  const auto other =
      convention == DecimalConvention::point ? DecimalConvention::comma : DecimalConvention::point;
  double ignored = 0;
  return read(other, ignored) ? NcuNumber::other_convention : NcuNumber::none;
}

}  // namespace

NcuNumber parse_ncu_number(std::string_view cell, DecimalConvention convention, double& value) {
  if (scan(cell, convention, value)) return NcuNumber::value;
  return parse_unusual(cell, convention, value);
}

}  // namespace llmprof::readers
