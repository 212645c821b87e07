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

TEST(Text, WhatATerminalWouldObeyIsNotPrintable) {
  // CSI as C1, next line, delete; directions, isolates, zero-width blanks, tags, a byte order mark.
  EXPECT_EQ(to_printable("a\xC2\x9B"
                         "31mb\xC2\x85"
                         "c\x7F"),
            "a 31mb c ");
  for (const char* hidden : {"\u202E", "\u202A", "\u2066", "\u2069", "\u200E", "\u200F", "\u061C",
                             "\u200B", "\u2060", "\uFEFF", "\u2028", "\u00AD", "\U000E0041"}) {
    EXPECT_EQ(to_printable(std::string("x") + hidden + "y"), "x\uFFFDy");
    EXPECT_FALSE(is_printable_utf8(hidden));
  }
  EXPECT_EQ(to_printable("x\u200Dy"), "x\uFFFDy");
  for (const char* text :
       {"\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645", "\u65E5\u672C\u8A9E",
        "\U0001F469\u200D\U0001F4BB", "e\u0301", "\u03BCs \u00D7 \u2026 \u00A0"}) {
    EXPECT_EQ(to_printable(text), text);
    EXPECT_TRUE(is_printable_utf8(text));
    EXPECT_EQ(to_printable_json(text), text);
  }
  EXPECT_EQ(to_printable_lines("a\nb\x1B[1m\n"), "a\nb [1m\n");
  EXPECT_EQ(to_printable_json("{\n\"a\": \"\u202E\u009B\U000E0041\"}"),
            "{\n\"a\": \"\\u202e\\u009b\\udb40\\udc41\"}");
}

TEST(Text, CountsInEnglish) {
  EXPECT_EQ(counted(1, "pass"), "1 pass");
  EXPECT_EQ(counted(2, "pass"), "2 passes");
  EXPECT_EQ(counted(0, "host"), "0 hosts");
  EXPECT_EQ(counted(3, "copy"), "3 copies");
  EXPECT_EQ(counted(3, "replay"), "3 replays");
  EXPECT_EQ(counted(2, "batch"), "2 batches");
  EXPECT_EQ(counted(999, "kernel"), "999 kernels");
  EXPECT_EQ(counted(1234567, "kernel"), "1,234,567 kernels");
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
