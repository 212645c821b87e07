#include "readers/nsys_csv/values.h"

#include <gtest/gtest.h>

#include "readers/shared/tool_words.h"

namespace llmprof::readers::nsys_csv {
namespace {

TEST(NsysCsvValues, NanosecondsAreExact) {
  EXPECT_EQ(parse_time("9007199254740993", 0), 9007199254740993);  // 2^53 + 1
  EXPECT_EQ(parse_time("9223372036854775807", 0), INT64_MAX);
  EXPECT_EQ(parse_time("9223372036854775808", 0), std::nullopt);
  EXPECT_EQ(parse_time("-5", 0), -5);
  EXPECT_EQ(parse_time("1168.6", 0), 1169);
  EXPECT_EQ(parse_time("1168.4999", 0), 1168);
}

TEST(NsysCsvValues, OtherUnitsAreExactToTheNanosecond) {
  EXPECT_EQ(parse_time("1.234567891", 9), 1234567891);
  EXPECT_EQ(parse_time("9007199.254740993", 9), 9007199254740993);
  EXPECT_EQ(parse_time("1.2345675", 6), 1234568);
  EXPECT_EQ(parse_time("12", 3), 12000);
  EXPECT_EQ(parse_time(".5", 3), 500);
  EXPECT_EQ(parse_time("1.5e+03", 3), 1500000);
  EXPECT_EQ(parse_time("99999999999999", 9), std::nullopt);
}

TEST(NsysCsvValues, AUnitOnTheValueOutranksTheColumns) {
  EXPECT_EQ(parse_time("12.5 us", 6), 12500);
  EXPECT_EQ(parse_time("12.5us", 0), 12500);
  EXPECT_EQ(parse_time("12.5 \xCE\xBCs", 0), 12500);
  EXPECT_EQ(parse_time("12.5 \xC2\xB5s", 0), 12500);
  EXPECT_EQ(parse_time(" 3 ms ", 0), 3000000);
  EXPECT_EQ(parse_time("2 s", 0), 2000000000);
  EXPECT_EQ(parse_time("2 parsecs", 0), std::nullopt);
}

TEST(NsysCsvValues, CommasSeparateThousandsOnly) {
  EXPECT_EQ(parse_time("1,234,567", 0), 1234567);
  EXPECT_EQ(parse_time("1,234.5", 3), 1234500);
  EXPECT_EQ(parse_count("12,345"), 12345U);
  for (const auto* wrong : {"1,5", "1,23,456", ",123", "1234,567", "1,234,", "1.5,000"}) {
    EXPECT_EQ(parse_time(wrong, 0), std::nullopt) << wrong;
  }
}

TEST(NsysCsvValues, WhatIsNoNumberIsNothing) {
  for (const auto* wrong :
       {"", " ", "-", "+", ".", "e", "1e", "1.2.3", "--1", "1-2", "nan", "ns"}) {
    EXPECT_EQ(parse_time(wrong, 0), std::nullopt) << wrong;
    EXPECT_EQ(parse_count(wrong), std::nullopt) << wrong;
    EXPECT_EQ(parse_bytes(wrong, 0), std::nullopt) << wrong;
  }
  EXPECT_EQ(parse_time("1e300", 0), std::nullopt);
  EXPECT_EQ(parse_time_fraction("1e999", 0), std::nullopt);
  EXPECT_EQ(parse_count("-1"), std::nullopt);
  EXPECT_EQ(parse_count("1.5"), std::nullopt);
  EXPECT_EQ(parse_number("4294967296"), std::nullopt);
}

TEST(NsysCsvValues, BytesAndExtents) {
  EXPECT_EQ(parse_bytes("0.025", 6), 25000U);
  EXPECT_EQ(parse_bytes("4096", 0), 4096U);
  EXPECT_EQ(parse_bytes("-1", 0), std::nullopt);
  EXPECT_EQ(parse_time_fraction("44832.5", 0), 44832.5);
  EXPECT_EQ(parse_extent("   2    1   64"), (trace::Extent{2, 1, 64}));
  EXPECT_EQ(parse_extent("(2,1,1)"), (trace::Extent{2, 1, 1}));
  EXPECT_EQ(parse_extent("2 1"), std::nullopt);
  EXPECT_EQ(parse_extent("1 2 3 4"), std::nullopt);
  EXPECT_EQ(parse_extent("1 2 99999999999"), std::nullopt);
}

}  // namespace
}  // namespace llmprof::readers::nsys_csv
