#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <vector>

#include "base/ascii.h"

namespace llmprof {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (to_lower(a[i - 1]) == to_lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

}  // namespace

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return to_lower(x) == to_lower(y); });
}

std::optional<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_decimal(std::string_view text) {
  // Short plain decimals, which nearly all are, are exact as digits over a power of ten (both
  // below 2^53); std::from_chars takes three times as long for them.
  constexpr std::array<double, 16> kPowers = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  uint64_t digits = 0;
  size_t count = 0;
  size_t fraction = 0;
  bool point = false;
  bool plain = !text.empty() && text.size() <= 16;
  for (size_t i = 0; plain && i < text.size(); ++i) {
    const auto digit = static_cast<unsigned>(text[i]) - '0';
    if (digit < 10) {
      digits = digits * 10 + digit;
      ++count;
      fraction += point ? 1 : 0;
    } else if (text[i] == '.' && !point) {
      point = true;
    } else {
      plain = false;
    }
  }
  if (plain && count > 0 && count <= 15) {
    return static_cast<double>(digits) / kPowers[fraction];
  }
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](size_t i) { return i < text.size() && (byte(i) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!continues(1) || !continues(2)) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;
    if (lead == 0xED && byte(1) > 0x9F) return 0;
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (lead == 0xF0 && byte(1) < 0x90) return 0;
    if (lead == 0xF4 && byte(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

bool is_printable_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = character_length(text);
    if (length == 0 || is_control(text[0])) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string to_printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const size_t length = character_length(text);
    if (length == 0) {
      clean += kReplacement;
    } else if (is_control(text[0])) {
      clean += ' ';
    } else {
      clean += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return clean;
}

std::string shortened(std::string_view text, size_t limit) {
  size_t characters = 0;
  size_t end = 0;
  size_t cut = 0;
  while (end < text.size()) {
    if (characters + 1 == limit) cut = end;
    if (characters == limit) return std::string(text.substr(0, cut)) + "\xE2\x80\xA6";
    end += std::max<size_t>(character_length(text.substr(end)), 1);
    ++characters;
  }
  return std::string(text);
}

std::optional<std::string_view> nearest(std::string_view wanted,
                                        std::span<const std::string_view> candidates) {
  std::optional<std::string_view> best;
  size_t best_distance = std::max<size_t>(wanted.size() / 3, 2) + 1;
  for (const std::string_view candidate : candidates) {
    const size_t distance = edit_distance(wanted, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace llmprof
