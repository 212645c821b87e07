#include "readers/kineto/token.h"

#include <gtest/gtest.h>

namespace llmprof::readers {
namespace {

struct TimeCase {
  std::string_view text;
  int64_t nanoseconds;
};

// By hand; rounded values checked with Python's Decimal.quantize(1, ROUND_HALF_UP).
TEST(KinetoToken, MicrosecondsBecomeExactNanoseconds) {
  constexpr TimeCase kCases[] = {
      {"0", 0},
      {"0.000", 0},
      {"1", 1000},
      {"331.600", 331'600},
      {"6.98", 6980},
      {"3845335904496.597", 3'845'335'904'496'597},
      {"1712195495519689.047", 1'712'195'495'519'689'047},
      {"1669783687464181", 1'669'783'687'464'181'000},
      {"4611686018427387.904", 4'611'686'018'427'387'904},  // 2^62
      {"1e3", 1'000'000},
      {"1E+3", 1'000'000},
      {"1.5e-3", 2},
      {"1.4e-3", 1},
      {"12345.678e2", 1'234'567'800},
      {"123456789e-9", 123},
      {"0.0004999", 0},
      {"0.0005", 1},
      {"0.0014999999999999999999", 1},
      {"1.2345", 1235},
      {"999999999.9999999", 1'000'000'000'000},
      {"000001.25", 1250},
      {"0.00000000000000000000000001e23", 1},
      {"1e-999999999999999999999", 0},
      {"0e999999999999999999999", 0},
      {"-5.25", -5250},
      {"-0.0005", -1},
      {"\"42.5\"", 42'500},
      {"42.5 \r\n\t", 42'500},
  };
  for (const TimeCase& c : kCases) {
    const auto got = token_nanoseconds(c.text);
    ASSERT_TRUE(got) << c.text;
    EXPECT_EQ(*got, c.nanoseconds) << c.text;
  }
}

TEST(KinetoToken, NoTimeWhereThereIsNoNumber) {
  for (const std::string_view text : {"",
                                      " ",
                                      "-",
                                      ".",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "1e+",
                                      "1e5x",
                                      "e5",
                                      "+1",
                                      "1 2",
                                      "1,5",
                                      "0x10",
                                      "NaN",
                                      "Infinity",
                                      "null",
                                      "true",
                                      "[",
                                      "\"\"",
                                      "\"abc\"",
                                      "1.2.3",
                                      "--1",
                                      "4611686018427387.905",
                                      "9999999999999999",
                                      "9223372036854775808",
                                      "1e30",
                                      "1e999999999999999999999"}) {
    EXPECT_FALSE(token_nanoseconds(text)) << text;
  }
}

TEST(KinetoToken, Unsigned) {
  EXPECT_EQ(token_unsigned("0"), 0U);
  EXPECT_EQ(token_unsigned("17 \n"), 17U);
  EXPECT_EQ(token_unsigned("\"17\""), 17U);
  EXPECT_EQ(token_unsigned("17.0"), 17U);
  EXPECT_EQ(token_unsigned("9223372036854775808"), 1ULL << 63U);
  EXPECT_EQ(token_unsigned("18446744073709551615"), UINT64_MAX);
  for (const std::string_view text : {"18446744073709551616", "-1", "1.5", "1e3", "", "abc", ".0",
                                      "99999999999999999999999999", "null", "{"}) {
    EXPECT_FALSE(token_unsigned(text)) << text;
  }
  EXPECT_EQ(token_uint32("4294967295"), UINT32_MAX);
  EXPECT_EQ(token_uint32("4294967296", 7), 7U);
}

TEST(KinetoToken, StringsAndTheirMeaning) {
  EXPECT_TRUE(is_string_token("\"a\"  "));
  EXPECT_FALSE(is_string_token("12"));
  EXPECT_FALSE(is_string_token("\""));
  EXPECT_EQ(token_text("\"a b\" \n"), "a b");
  EXPECT_EQ(unescaped(R"(a\"b\\c\/d)"), "a\"b\\c/d");
  EXPECT_EQ(unescaped(R"(tab\tline\nend)"), "tab line end");
  EXPECT_EQ(unescaped(R"(\u00e9\u20AC)"), "\xC3\xA9\xE2\x82\xAC");
  EXPECT_EQ(unescaped(R"(\ud83d\ude00)"), "\xF0\x9F\x98\x80");
  EXPECT_EQ(unescaped(R"(\ud83d!)"), "\xEF\xBF\xBD!");
  EXPECT_EQ(unescaped(R"(\ude00)"), "\xEF\xBF\xBD");
  EXPECT_EQ(unescaped(R"(\u12)"),
            "\xEF\xBF\xBD"
            "12");
  EXPECT_EQ(unescaped(R"(\q)"), "\xEF\xBF\xBD");
  EXPECT_EQ(unescaped("\\"), "\xEF\xBF\xBD");
  EXPECT_EQ(unescaped(R"(\u0000\u001f)"), "  ");
}

}  // namespace
}  // namespace llmprof::readers
