#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

namespace llmprof {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

enum class CharacterKind : uint8_t { visible, control, invisible };

char32_t code_of(std::string_view text, size_t length) {
  constexpr std::array<unsigned, 5> kLeadBits = {0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t code = static_cast<unsigned char>(text[0]) & kLeadBits[length];
  for (size_t i = 1; i < length; ++i) {
    code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return code;
}

// Unicode's format characters, line and paragraph separators: invisible, but they change how other
// text is shown.
bool is_format(char32_t code) {
  // Sorted: the first code of each range, then the first code after it.
  constexpr auto kBounds = std::to_array<char32_t>(
      {0x00AD, 0x00AE, 0x061C,  0x061D,  0x115F,  0x1161,  0x180E,  0x180F, 0x200B, 0x2010,
       0x2028, 0x202F, 0x2060,  0x2070,  0x3164,  0x3165,  0xFEFF,  0xFF00, 0xFFA0, 0xFFA1,
       0xFFF9, 0xFFFC, 0x1BCA0, 0x1BCA4, 0x1D173, 0x1D17B, 0xE0000, 0xE0080});
  return (std::ranges::upper_bound(kBounds, code) - kBounds.begin()) % 2 == 1;
}

// The kind of the first character of `text`. Joiners are part of words in some scripts and of
// emoji, so they are allowed between non-ASCII characters.
CharacterKind kind_of(std::string_view text, size_t length, bool after_ascii) {
  if (length == 1) {
    const auto byte = static_cast<unsigned char>(text[0]);
    return byte < 0x20 || byte == 0x7F ? CharacterKind::control : CharacterKind::visible;
  }
  const char32_t code = code_of(text, length);
  if (code < 0xA0) return CharacterKind::control;
  if (!is_format(code)) return CharacterKind::visible;
  const bool is_joiner = code == 0x200C || code == 0x200D;
  const bool before_ascii =
      text.size() == length || static_cast<unsigned char>(text[length]) < 0x80;
  return is_joiner && !after_ascii && !before_ascii ? CharacterKind::visible
                                                    : CharacterKind::invisible;
}

// The concatenation of what `append(character, kind, text)` adds for each character. A byte that is
// not part of a character is passed as an empty, invisible one.
template <class Append>
std::string each_character(std::string_view text, const Append& append) {
  std::string made;
  made.reserve(text.size());
  bool after_ascii = true;
  while (!text.empty()) {
    const size_t length = character_length(text);
    append(text.substr(0, length),
           length == 0 ? CharacterKind::invisible : kind_of(text, length, after_ascii), made);
    after_ascii = length <= 1;
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return made;
}

// In UTF-16, as JSON requires.
void append_escaped(char32_t code, std::string& json) {
  const auto append = [&](unsigned unit) { json += fmt::format("\\u{:04x}", unit); };
  if (code < 0x10000) return append(static_cast<unsigned>(code));
  const auto above = static_cast<unsigned>(code - 0x10000);
  append(0xD800U + (above >> 10U));
  append(0xDC00U + (above & 0x3FFU));
}

template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

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

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> pieces;
  for (size_t end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  pieces.push_back(text);
  return pieces;
}

std::string in_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

void append_base64(std::string& out, std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr uint32_t kSixBits = 0x3F;
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])); };
  size_t at = out.size();
  out.resize(at + (bytes.size() + 2) / 3 * 4);
  const auto put = [&](uint32_t group, size_t digits) {
    for (size_t i = 0; i < 4; ++i) {
      const size_t shift = 18 - 6 * i;
      out[at++] = i < digits ? kDigits[group >> shift & kSixBits] : '=';
    }
  };
  size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    put(byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2), 4);
  }
  if (bytes.size() - i == 1) put(byte(i) << 16U, 2);
  if (bytes.size() - i == 2) put(byte(i) << 16U | byte(i + 1) << 8U, 3);
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return to_lower(x) == to_lower(y); });
}

std::optional<int64_t> parse_int(std::string_view text) { return parse_whole<int64_t>(text); }

std::optional<double> parse_decimal(std::string_view text) {
  // Nearly all numbers are short plain decimals, which are exact as digits over a power of ten
  // (both below 2^53); std::from_chars takes three times as long for them.
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
  return parse_whole<double>(text);
}

std::optional<int64_t> parse_scaled(std::string_view text, int power) {
  const auto take_sign = [](std::string_view& number) {
    const bool negative = number.starts_with('-');
    if (negative || number.starts_with('+')) number.remove_prefix(1);
    return negative;
  };
  const auto all_digits = [](std::string_view digits) {
    return std::all_of(digits.begin(), digits.end(), is_digit);
  };
  const bool negative = take_sign(text);
  int64_t exponent = power;
  if (const size_t mark = text.find_first_of("eE"); mark != std::string_view::npos) {
    std::string_view digits = text.substr(mark + 1);
    text = text.substr(0, mark);
    const bool down = take_sign(digits);
    if (digits.empty() || !all_digits(digits)) return std::nullopt;
    // Far beyond any number, far below overflow: longer exponents have the same effect.
    constexpr int64_t kEnough = 1'000'000'000;
    const int64_t size = std::min(parse_int(digits).value_or(kEnough), kEnough);
    exponent += down ? -size : size;
  }
  const size_t point = std::min(text.find('.'), text.size());
  const size_t count = text.size() - (point < text.size() ? 1 : 0);
  if (count == 0 || !all_digits(text.substr(0, point)) ||
      !all_digits(text.substr(std::min(point + 1, text.size())))) {
    return std::nullopt;
  }
  const auto digit = [&](size_t i) { return i < count ? text[i < point ? i : i + 1] - '0' : 0; };
  size_t i = 0;
  while (i < count && digit(i) == 0) ++i;
  // Digits of the result, including leading zeros; the next one decides rounding.
  const int64_t wanted = static_cast<int64_t>(point) + exponent;
  if (i == count || wanted < 0) return 0;
  const auto end = static_cast<size_t>(wanted);
  int64_t value = 0;
  for (; i < end; ++i) {
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, digit(i), &value)) {
      return std::nullopt;
    }
  }
  if (digit(end) >= 5 && __builtin_add_overflow(value, 1, &value)) return std::nullopt;
  return negative ? -value : value;
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
  bool after_ascii = true;
  while (!text.empty()) {
    const size_t length = character_length(text);
    if (length == 0 || kind_of(text, length, after_ascii) != CharacterKind::visible) return false;
    after_ascii = length == 1;
    text.remove_prefix(length);
  }
  return true;
}

std::string to_printable(std::string_view text) {
  return each_character(text, [](std::string_view character, CharacterKind kind, std::string& to) {
    if (kind == CharacterKind::invisible) {
      to += kReplacement;
    } else if (kind == CharacterKind::control) {
      to += ' ';
    } else {
      to += character;
    }
  });
}

std::string to_printable_lines(std::string_view text) {
  std::string clean;
  for (const std::string_view line : split(text, '\n')) clean += to_printable(line) + '\n';
  clean.pop_back();
  return clean;
}

std::string to_printable_json(std::string_view json) {
  return each_character(json, [](std::string_view character, CharacterKind kind, std::string& to) {
    if (character.empty()) {
      to += kReplacement;
    } else if (character.size() == 1 || kind == CharacterKind::visible) {
      to += character;  // also line breaks between values; JSON strings have none
    } else {
      append_escaped(code_of(character, character.size()), to);
    }
  });
}

std::string plural_of(uint64_t number, std::string_view one) {
  std::string word(one);
  if (number == 1 || word.empty()) return word;
  const auto ends_with_any = [&](std::initializer_list<std::string_view> endings) {
    return std::any_of(endings.begin(), endings.end(),
                       [&](std::string_view ending) { return one.ends_with(ending); });
  };
  if (one.ends_with('y') && !ends_with_any({"ay", "ey", "oy", "uy"})) {
    word.back() = 'i';
    return word + "es";
  }
  return word + (ends_with_any({"s", "x", "z", "ch", "sh"}) ? "es" : "s");
}

std::string counted(uint64_t number, std::string_view one) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits + ' ' + plural_of(number, one);
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
