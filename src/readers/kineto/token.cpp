#include "readers/kineto/token.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/text.h"

namespace llmprof::readers {
namespace {

// A number's digits without leading zeros, and how many of them stand before the decimal point
// (fewer than 0 or more than there are digits are both possible).
struct Decimal {
  std::string_view whole;
  std::string_view fraction;
  int64_t exponent = 0;
  bool negative = false;

  [[nodiscard]] char digit(size_t i) const {
    if (i < whole.size()) return whole[i];
    return i - whole.size() < fraction.size() ? fraction[i - whole.size()] : '0';
  }
};

std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const std::string_view digits = text.substr(0, static_cast<size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

std::optional<int64_t> parse_exponent(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  // Far beyond any time, far below overflow: a longer exponent means the same.
  constexpr int64_t kEnough = 1'000'000'000;
  const int64_t size = parse_int(text).value_or(kEnough);
  return negative ? -std::min(size, kEnough) : std::min(size, kEnough);
}

std::optional<Decimal> parse_number(std::string_view text) {
  Decimal number;
  number.negative = text.starts_with('-');
  if (number.negative) text.remove_prefix(1);
  number.whole = take_digits(text);
  if (number.whole.empty()) return std::nullopt;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    number.fraction = take_digits(text);
    if (number.fraction.empty()) return std::nullopt;
  }
  if (text.empty()) return number;
  if (text[0] != 'e' && text[0] != 'E') return std::nullopt;
  const auto exponent = parse_exponent(text.substr(1));
  if (!exponent) return std::nullopt;
  number.exponent = *exponent;
  return number;
}

constexpr int64_t kLargestTime = int64_t{1} << 62U;

std::optional<int64_t> to_nanoseconds(const Decimal& number) {
  const size_t digits = number.whole.size() + number.fraction.size();
  size_t zeros = 0;
  while (zeros < digits && number.digit(zeros) == '0') ++zeros;
  if (zeros == digits) return 0;
  constexpr int64_t kMicrosecondDigits = 3;
  // Digits of the result, leading zeros included; the one after them rounds.
  const int64_t wanted =
      static_cast<int64_t>(number.whole.size()) + number.exponent + kMicrosecondDigits;
  if (wanted < 0) return 0;
  constexpr int64_t kMostDigits = 19;
  if (wanted - static_cast<int64_t>(zeros) > kMostDigits) return std::nullopt;
  uint64_t magnitude = 0;
  const auto end = static_cast<size_t>(wanted);
  for (size_t i = zeros; i < end; ++i) {
    magnitude = magnitude * 10 + static_cast<uint64_t>(number.digit(i) - '0');
  }
  if (number.digit(end) >= '5') ++magnitude;
  if (magnitude > static_cast<uint64_t>(kLargestTime)) return std::nullopt;
  const auto size = static_cast<int64_t>(magnitude);
  return number.negative ? -size : size;
}

// "1790857026.123": what nearly every time looks like. Nothing where it does not.
std::optional<int64_t> plain_nanoseconds(std::string_view text) {
  constexpr size_t kMostWholeDigits = 16;  // times a thousand still below 2^64
  uint64_t value = 0;
  size_t i = 0;
  for (; i < text.size() && is_digit(text[i]); ++i) {
    if (i == kMostWholeDigits) return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(text[i] - '0');
  }
  if (i == 0) return std::nullopt;
  size_t missing = 3;
  if (i < text.size()) {
    const size_t fraction = text.size() - i - 1;
    if (text[i] != '.' || fraction == 0 || fraction > missing) return std::nullopt;
    for (++i; i < text.size(); ++i, --missing) {
      if (!is_digit(text[i])) return std::nullopt;
      value = value * 10 + static_cast<uint64_t>(text[i] - '0');
    }
  }
  for (; missing > 0; --missing) value *= 10;
  if (value > static_cast<uint64_t>(kLargestTime)) return std::nullopt;
  return static_cast<int64_t>(value);
}

std::optional<uint32_t> parse_hex4(std::string_view text) {
  uint32_t value = 0;
  if (text.size() < 4) return std::nullopt;
  const auto [end, status] = std::from_chars(text.data(), text.data() + 4, value, 16);
  if (status != std::errc() || end != text.data() + 4) return std::nullopt;
  return value;
}

void append_utf8(std::string& out, uint32_t code) {
  const auto byte = [&](uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0U | code >> 6U);
    byte(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    byte(0xE0U | code >> 12U);
    byte(0x80U | (code >> 6U & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  } else {
    byte(0xF0U | code >> 18U);
    byte(0x80U | (code >> 12U & 0x3FU));
    byte(0x80U | (code >> 6U & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  }
}

constexpr uint32_t kReplacement = 0xFFFD;

// The character of a \u escape whose hexadecimal digits are at the front; takes what belongs to it.
uint32_t take_unicode(std::string_view& rest) {
  const auto first = parse_hex4(rest);
  if (!first) return kReplacement;
  rest.remove_prefix(4);
  if (*first < 0xD800 || *first > 0xDFFF) return *first;
  if (*first > 0xDBFF || !rest.starts_with("\\u")) return kReplacement;
  const auto second = parse_hex4(rest.substr(2));
  if (!second || *second < 0xDC00 || *second > 0xDFFF) return kReplacement;
  rest.remove_prefix(6);
  return 0x10000 + ((*first - 0xD800) << 10U) + (*second - 0xDC00);
}

}  // namespace

std::string_view without_blanks_behind(std::string_view token) {
  const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!token.empty() && blank(token.back())) token.remove_suffix(1);
  return token;
}

std::optional<uint64_t> token_unsigned(std::string_view token) {
  // A few bare digits, which nearly all are.
  constexpr size_t kNoOverflow = 18;
  token = without_blanks_behind(token);
  uint64_t digits = 0;
  size_t count = 0;
  while (count < token.size() && count < kNoOverflow && is_digit(token[count])) {
    digits = digits * 10 + static_cast<uint64_t>(token[count++] - '0');
  }
  if (count > 0 && count == token.size()) return digits;

  std::string_view text = token_text(token);
  // 12.0: some writers make every number a float.
  if (const size_t point = text.find('.'); point != std::string_view::npos && point > 0) {
    const std::string_view fraction = text.substr(point + 1);
    if (fraction.find_first_not_of('0') != std::string_view::npos) return std::nullopt;
    text = text.substr(0, point);
  }
  uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

uint32_t token_uint32(std::string_view token, uint32_t otherwise) {
  const auto value = token_unsigned(token);
  return value && *value <= UINT32_MAX ? static_cast<uint32_t>(*value) : otherwise;
}

std::optional<int64_t> token_nanoseconds(std::string_view microseconds) {
  const std::string_view text = token_text(microseconds);
  if (const auto plain = plain_nanoseconds(text)) return plain;
  const auto number = parse_number(text);
  return number ? to_nanoseconds(*number) : std::nullopt;
}

std::string unescaped(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const size_t escape = std::min(text.find('\\'), text.size());
    plain += text.substr(0, escape);
    text.remove_prefix(escape);
    if (text.empty()) break;
    const char kind = text.size() > 1 ? text[1] : '\0';
    text.remove_prefix(std::min<size_t>(text.size(), 2));
    switch (kind) {
      case '"':
      case '\\':
      case '/':
        plain += kind;
        break;
      case 'b':
      case 'f':
      case 'n':
      case 'r':
      case 't':
        plain += ' ';
        break;
      case 'u':
        append_utf8(plain, take_unicode(text));
        break;
      default:
        append_utf8(plain, kReplacement);
    }
  }
  return is_printable_utf8(plain) ? plain : to_printable(plain);
}

}  // namespace llmprof::readers
