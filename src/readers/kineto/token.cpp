#include "readers/kineto/token.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace llmprof::readers {
namespace {

constexpr int64_t kLargestTime = int64_t{1} << 62U;

// "1790857026.123", the form of nearly every time; none for any other form.
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
  constexpr std::array<uint32_t, 4> kLeads = {0, 0xC0, 0xE0, 0xF0};
  size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  out += static_cast<char>(kLeads[more] | code >> 6 * more);
  while (more-- > 0) out += static_cast<char>(0x80U | (code >> 6 * more & 0x3FU));
}

constexpr uint32_t kReplacement = 0xFFFD;

// The character of a \u escape whose hexadecimal digits are at the front; consumes them.
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
  while (!token.empty() && is_blank(token.back())) token.remove_suffix(1);
  return token;
}

std::optional<uint64_t> token_unsigned(std::string_view token) {
  // A few bare digits, as in nearly all tokens.
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
  // JSON requires a digit, or a minus, in front, and digits on both sides of a point.
  const auto is_digit_at = [&](size_t i) { return i < text.size() && is_digit(text[i]); };
  const size_t point = text.find('.');
  const bool sane_point =
      point == std::string_view::npos || (is_digit_at(point - 1) && is_digit_at(point + 1));
  if (!sane_point || (!text.starts_with('-') && !is_digit_at(0))) return std::nullopt;
  const auto time = parse_scaled(text, 3);
  return time && std::abs(*time) <= kLargestTime ? time : std::nullopt;
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
    if (kind == 'u') {
      append_utf8(plain, take_unicode(text));
    } else if (kind == '"' || kind == '\\' || kind == '/') {
      plain += kind;
    } else if (std::string_view("bfnrt").find(kind) != std::string_view::npos) {
      plain += ' ';
    } else {
      append_utf8(plain, kReplacement);
    }
  }
  return is_printable_utf8(plain) ? plain : to_printable(plain);
}

std::string string_meaning(std::string_view text) {
  const bool plain = text.find('\\') == std::string_view::npos && is_printable_utf8(text);
  return plain ? std::string(text) : unescaped(text);
}

}  // namespace llmprof::readers
