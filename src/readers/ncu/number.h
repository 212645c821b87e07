#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace llmprof::readers {

// How a file writes numbers: 1,234.56 (point) or 1.234,56 (comma).
enum class DecimalConvention : uint8_t { point, comma };

enum class NcuNumber : uint8_t {
  value,
  none,              // blank, n/a, "no data", inf, nan, text
  other_convention,  // a number, but only in the other convention
};

// Reads a metric's cell. ncu writes numbers in the locale of the machine it ran on, so the
// convention is a property of the file, whatever the locale here:
//   - thousands come in groups of exactly three after one to three digits that do not start with
//     0; so 1,234.56, 0.37, 2.880000 and 1,234,567 can only be point, 1.234,56, 0,37 and 2,880000
//     only comma;
//   - a file is read as point, which is ncu's English output, unless that leaves more values
//     unreadable than comma does (NcuLaunches::other_convention counts them);
//   - so a file with nothing but values like 1,234 (both conventions accept it) means a thousand.
// Blanks, apostrophes and no-break spaces between digits are thousands too. A trailing '%' and the
// instance list "(1; 2; 3)" after a value are ignored. Right to two units in the last place.
NcuNumber parse_ncu_number(std::string_view cell, DecimalConvention convention, double& value);

static_assert(std::endian::native == std::endian::little, "digits are read as words");
inline constexpr uint64_t kEveryByte = 0x0101010101010101ULL;

// Converts eight characters at once, of which the first `count` (1 to 8) are the number. False if
// one of these is not a digit.
[[gnu::always_inline]] inline bool parse_eight_digits(uint64_t word, size_t count,
                                                      uint64_t& value) {
  word = (word ^ (kEveryByte * '0')) << ((8 - count) * 8);
  if ((((word + kEveryByte * 0x76) | word) & (kEveryByte * 0x80)) != 0) return false;
  // Digits become pairs, then two products combine all pairs by their powers of ten.
  constexpr uint64_t kPairs = 0x000000FF000000FFULL;
  word = word * 10 + (word >> 8U);
  value = ((word & kPairs) * (100 + (1000000ULL << 32U)) +
           ((word >> 16U) & kPairs) * (1 + (10000ULL << 32U))) >>
          32U;
  return true;
}

inline constexpr std::array<uint64_t, 9> kPowersOfTen = {1,      10,      100,      1000,     10000,
                                                         100000, 1000000, 10000000, 100000000};
inline constexpr std::array<double, 20> kInversePowersOfTen = {
    1e0,   1e-1,  1e-2,  1e-3,  1e-4,  1e-5,  1e-6,  1e-7,  1e-8,  1e-9,
    1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 1e-16, 1e-17, 1e-18, 1e-19};

inline uint64_t word_at(const char* text) {
  uint64_t word = 0;
  std::memcpy(&word, text, sizeof word);
  return word;
}

// A decimal number as its digits and the number of digits after the point.
struct PlainNumber {
  uint64_t digits = 0;
  size_t fraction_count = 0;
  bool valid = false;

  [[nodiscard]] double value() const {
    // A multiplication costs a fifth of a division.
    return static_cast<double>(digits) * kInversePowersOfTen[fraction_count];
  }
};

// The most frequent spellings, without groups, sign or exponent: "12", "0.369437", "5652.750000".
// No other text is valid. Eight bytes after the text must be readable.
[[gnu::always_inline]] inline PlainNumber parse_plain_number(std::string_view text, char point) {
  PlainNumber number;
  if (text.size() == 1) {
    number.digits = static_cast<uint64_t>(static_cast<unsigned char>(text.front())) - '0';
    number.valid = number.digits < 10;
    return number;
  }
  const uint64_t word = word_at(text.data());
  const uint64_t zero_at_point = word ^ (kEveryByte * static_cast<unsigned char>(point));
  const uint64_t at_point = (zero_at_point - kEveryByte) & ~zero_at_point & (kEveryByte * 0x80);
  const size_t before_point = static_cast<size_t>(std::countr_zero(at_point)) / 8;
  if (before_point >= text.size()) {
    number.valid = text.size() - 1 <= 7 && parse_eight_digits(word, text.size(), number.digits);
    return number;
  }
  number.fraction_count = text.size() - before_point - 1;
  if (text.size() <= 8) {
    // Closes the gap that the point leaves.
    const uint64_t before = (uint64_t{1} << (before_point * 8)) - 1;
    const uint64_t joined = (word & before) | ((word >> 8U) & ~before);
    number.valid = before_point > 0 && number.fraction_count > 0 &&
                   parse_eight_digits(joined, text.size() - 1, number.digits);
    return number;
  }
  uint64_t whole = 0;
  uint64_t fraction = 0;
  if (before_point - 1 > 6 || number.fraction_count - 1 > 7 ||
      !parse_eight_digits(word, before_point, whole) ||
      !parse_eight_digits(word_at(text.data() + before_point + 1), number.fraction_count,
                          fraction)) {
    return number;
  }
  number.digits = whole * kPowersOfTen[number.fraction_count] + fraction;
  number.valid = true;
  return number;
}

// Thousands in groups of three, whole or with two decimals, as ncu prints large numbers: "1,234",
// "8,533,333,333.33". No other text is valid. Eight bytes after the text must be readable.
[[gnu::always_inline]] inline PlainNumber parse_grouped_number(std::string_view text, char group,
                                                               char point) {
  constexpr size_t kLongestWhole = 23;  // 18 digits: 64 bits hold one more, or two more decimals
  PlainNumber number;
  size_t whole_size = text.size();
  uint64_t fraction = 0;
  if (whole_size > 3 && text[whole_size - 3] == point) {
    if (!parse_eight_digits(word_at(text.data() + whole_size - 2), 2, fraction)) return number;
    number.fraction_count = 2;
    whole_size -= 3;
  }
  const size_t lead = whole_size % 4;
  if (lead == 0 || whole_size > kLongestWhole - number.fraction_count || text.front() == '0' ||
      !parse_eight_digits(word_at(text.data()), lead, number.digits)) {
    return number;
  }
  const uint32_t zeros = 0x30303000U | static_cast<unsigned char>(group);
  for (size_t at = lead; at < whole_size; at += 4) {
    uint32_t bytes = 0;
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    bytes ^= zeros;
    if ((((bytes + 0x7676767FU) | bytes) & 0x80808080U) != 0) return number;
    number.digits = number.digits * 1000 + ((bytes >> 8U) & 0xFFU) * uint64_t{100} +
                    ((bytes >> 16U) & 0xFFU) * uint64_t{10} + (bytes >> 24U);
  }
  number.digits = number.digits * kPowersOfTen[number.fraction_count] + fraction;
  number.valid = true;
  return number;
}

}  // namespace llmprof::readers
