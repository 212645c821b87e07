#include "base/text.h"

#include <gtest/gtest.h>

#include <array>
#include <charconv>
#include <random>

namespace llmprof {
namespace {

TEST(Text, TrimsAndCompares) {
  EXPECT_EQ(trim("  a b\t\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_TRUE(equals_ignoring_case("ByTe", "bYtE"));
  EXPECT_FALSE(equals_ignoring_case("byte", "bytes"));
}

TEST(Text, ParsesWholeIntegersOnly) {
  EXPECT_EQ(parse_int("-42"), -42);
  EXPECT_EQ(parse_int("9223372036854775807"), INT64_MAX);
  EXPECT_FALSE(parse_int("9223372036854775808"));
  EXPECT_FALSE(parse_int("4 "));
  EXPECT_FALSE(parse_int(""));
}

TEST(Text, ParsesDecimalsWholly) {
  EXPECT_EQ(parse_decimal("3.17"), 3.17);
  EXPECT_EQ(parse_decimal("-0.5"), -0.5);
  EXPECT_EQ(parse_decimal("1e-7"), 1e-7);
  EXPECT_EQ(parse_decimal("12345678901234567890"), 12345678901234567890.0);
  for (const char* bad : {"", ".", "1,5", "1.2.3", "0x10", "1 ", "--1"}) {
    EXPECT_FALSE(parse_decimal(bad)) << bad;
  }
}

// The fast path must round exactly as the library does.
TEST(Text, ParsesDecimalsLikeFromChars) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    std::string text = std::to_string(random() % 100000000);
    if (i % 3 != 0) text.insert(random() % (text.size() + 1), 1, '.');
    double expected = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), expected);
    const bool whole = status == std::errc() && end == text.data() + text.size();
    const auto parsed = parse_decimal(text);
    if (whole) {
      EXPECT_EQ(parsed, expected) << text;
    }
  }
}

TEST(Text, MakesAnythingPrintable) {
  EXPECT_EQ(to_printable("a\nb"), "a b");
  EXPECT_EQ(to_printable("\xC3\xA4"), "\xC3\xA4");
  EXPECT_EQ(to_printable("\xC3"), "\xEF\xBF\xBD");
  EXPECT_EQ(to_printable("\xED\xA0\x80x"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDx");  // surrogate
  EXPECT_FALSE(is_printable_utf8("\xC0\x80"));                                        // overlong
  EXPECT_TRUE(is_printable_utf8("\xF0\x9F\x98\x80"));
}

TEST(Text, ShortensByCharacters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "ab\xE2\x80\xA6");
  EXPECT_EQ(shortened("\xC3\xA4\xC3\xA4\xC3\xA4", 2), "\xC3\xA4\xE2\x80\xA6");
}

TEST(Text, SuggestsTheNearest) {
  constexpr std::array<std::string_view, 3> kNames = {"gemm", "gemv", "attention"};
  EXPECT_EQ(nearest("atention", kNames), "attention");
  EXPECT_EQ(nearest("gem", kNames), "gemm");
  EXPECT_FALSE(nearest("communication", kNames));
}

}  // namespace
}  // namespace llmprof
