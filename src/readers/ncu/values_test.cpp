#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "readers/ncu/columns.h"
#include "readers/ncu/number.h"

namespace llmprof::readers {
namespace {

struct Read {
  NcuNumber kind;
  double value = 0;
};
Read read(std::string_view cell, DecimalConvention convention) {
  Read result{};
  result.kind = parse_ncu_number(cell, convention, result.value);
  return result;
}
void expect_value(std::string_view cell, DecimalConvention convention, double expected) {
  const Read result = read(cell, convention);
  EXPECT_EQ(result.kind, NcuNumber::value) << cell;
  EXPECT_DOUBLE_EQ(result.value, expected) << cell;
}
void expect_kind(std::string_view cell, DecimalConvention convention, NcuNumber kind) {
  EXPECT_EQ(read(cell, convention).kind, kind) << cell;
}
constexpr auto kPoint = DecimalConvention::point;
constexpr auto kComma = DecimalConvention::comma;

TEST(NcuNumber, ReadsBothConventions) {
  expect_value("0", kPoint, 0);
  expect_value("1234.56", kPoint, 1234.56);
  expect_value("1,234.56", kPoint, 1234.56);
  expect_value("2.880000", kPoint, 2.88);
  expect_value("128,630,604,713,804.72", kPoint, 128630604713804.72);
  expect_value("1.234,56", kComma, 1234.56);
  expect_value("2,880000", kComma, 2.88);
  expect_value("1234,5", kComma, 1234.5);
  expect_value("-0.5", kPoint, -0.5);
  expect_value("12.5%", kPoint, 12.5);
  expect_value("1.5e+03", kPoint, 1500);
  expect_value("6,784 (12; 34)", kPoint, 6784);
  expect_value(
      "1\xE2\x80\xAF"
      "234,5",
      kComma, 1234.5);
  expect_value("1'234.5", kPoint, 1234.5);
}

TEST(NcuNumber, AmbiguousGroupsMeanWhatTheConventionSays) {
  expect_value("1,234", kPoint, 1234);
  expect_value("1,234", kComma, 1.234);
  expect_value("1.234", kPoint, 1.234);
  expect_value("1.234", kComma, 1234);
}

TEST(NcuNumber, RecognizesTheOtherConvention) {
  for (const char* cell : {"1.234,56", "0,37", "2,880000", "0,123", "1.234.567"}) {
    expect_kind(cell, kPoint, NcuNumber::other_convention);
  }
  for (const char* cell : {"1,234.56", "0.37", "2.880000", "0.123", "1,234,567"}) {
    expect_kind(cell, kComma, NcuNumber::other_convention);
  }
}

TEST(NcuNumber, LeavesTextAlone) {
  for (const char* cell : {"", " ", "n/a", "no data", "inf", "-inf", "nan", "-nan",
                           "CachePreferNone", "1;2", "0x12", "12 cycles", ".", ",", "-", "9.0.1"}) {
    EXPECT_NE(read(cell, kPoint).kind, NcuNumber::value) << cell;
  }
  expect_kind("n/a", kComma, NcuNumber::none);
  expect_kind(std::string(1000, '9'), kPoint, NcuNumber::none);
}

TEST(NcuNumber, QuickWayAgreesWithTheThoroughOne) {
  const auto quick = [](std::string_view text, double& value) {
    char room[64] = {};
    std::memset(room, '"', sizeof room);
    std::memcpy(room, text.data(), text.size());
    const PlainNumber number = parse_plain_number({room, text.size()}, '.');
    if (number.valid) value = number.value();
    return number.valid;
  };
  for (const char* cell : {"0", "7", "12", "12345678", "0.369437", "18.206262", "5652.750000",
                           "1234567.12345678", "9.9"}) {
    double value = 0;
    ASSERT_TRUE(quick(cell, value)) << cell;
    EXPECT_DOUBLE_EQ(value, read(cell, kPoint).value) << cell;
  }
  for (const char* cell : {"123456789", "1,234", ".5", "5.", "1.2.3", "-1", "1e5", "a", "1a",
                           "1:", "0.123456789", "12345678.5", "/", "\xFF\xFF"}) {
    double value = 0;
    EXPECT_FALSE(quick(cell, value)) << cell;
  }
}

TEST(NcuNumber, QuickWayForGroupsAgreesWithTheThoroughOne) {
  const auto quick = [](std::string_view text) {
    char room[64] = {};
    std::memset(room, '"', sizeof room);
    std::memcpy(room, text.data(), text.size());
    return parse_grouped_number({room, text.size()}, ',', '.');
  };
  for (const char* cell : {"1,234", "12,345", "123,456", "1,234,567", "8,533,333,333.33",
                           "128,630,604,713,804.72", "1,234.50", "999,999,999,999,999,999"}) {
    const PlainNumber number = quick(cell);
    ASSERT_TRUE(number.valid) << cell;
    EXPECT_DOUBLE_EQ(number.value(), read(cell, kPoint).value) << cell;
  }
  for (const char* cell :
       {"0,123", "1,23", "1,2345", "1.234,50", "1,234.5x", "1,a34", ",234", "1,234,", "1;234",
        "1,2,34", "1,234.", "-1,234", "no data", "n/a", "1,234\x7F", "1,\x3A\x3A\x3A"}) {
    EXPECT_FALSE(quick(cell).valid) << cell;
  }
}

TEST(NcuUnits, ReducesToBaseUnits) {
  const auto expect_unit = [](std::string_view printed, std::string_view unit, double scale) {
    const NcuUnit base = ncu_base_unit(printed);
    EXPECT_EQ(base.unit, unit) << printed;
    EXPECT_DOUBLE_EQ(base.scale, scale) << printed;
  };
  expect_unit("ns", "ns", 1);
  expect_unit("us", "ns", 1e3);
  expect_unit("ms", "ns", 1e6);
  expect_unit("s", "ns", 1e9);
  expect_unit("nsecond", "ns", 1);
  expect_unit("usecond", "ns", 1e3);
  expect_unit("msecond", "ns", 1e6);
  expect_unit("second", "ns", 1e9);
  expect_unit("byte", "byte", 1);
  expect_unit("Kbyte", "byte", 1e3);
  expect_unit("Mbyte", "byte", 1e6);
  expect_unit("Gbyte", "byte", 1e9);
  expect_unit("Tbyte/s", "byte/s", 1e12);
  expect_unit("Gbyte/second", "byte/s", 1e9);
  expect_unit("byte/nsecond", "byte/s", 1e9);
  expect_unit("Kbyte/block", "byte/block", 1e3);
  expect_unit("%/Kbyte", "%/byte", 1e-3);
  expect_unit("hz", "hz", 1);
  expect_unit("Mhz", "hz", 1e6);
  expect_unit("Ghz", "hz", 1e9);
  expect_unit("cycle/nsecond", "hz", 1e9);
  expect_unit("cycle/second", "hz", 1);
  expect_unit("%", "%", 1);
  expect_unit("register/thread", "register/thread", 1);
  expect_unit("inst", "inst", 1);
  expect_unit("", "", 1);
  expect_unit("n/a", "", 1);
}

TEST(NcuRanges, SpellsThemAsTheFilterDoes) {
  EXPECT_EQ(ncu_ranges("563  \"<default domain>:decode_all:none:none:none:none:none:none\"  "
                       "\"<default domain>:decode_step:none:none:none:none:none:none\" ",
                       ""),
            "decode_all/decode_step");
  EXPECT_EQ(ncu_ranges("7  \"LLM:decode_all:none:none:none:none:none:none\" ", ""),
            "LLM@decode_all");
  EXPECT_EQ(ncu_ranges("7  \"LLM:layer:3:none:none:none:none:none:none\" ", ""), "LLM@layer:3");
  EXPECT_EQ(ncu_ranges("7  \"LLM:step:int64:17:argb:ff00ff00:none:none\" ", ""), "LLM@step");
  EXPECT_EQ(ncu_ranges("7  \"<default domain>:prefill:none:none:none:none:none:none\" ",
                       "3:LLM:request:none:none:none:none:none:none"),
            "LLM@request/prefill");
  EXPECT_EQ(ncu_ranges("", "\"3:<default domain>:request:none:none:none:none:none:none\""),
            "request");
  EXPECT_EQ(ncu_ranges("563 ", ""), "");
  EXPECT_EQ(ncu_ranges("", ""), "");
  EXPECT_EQ(ncu_ranges("\"", "\"\""), "");
}

}  // namespace
}  // namespace llmprof::readers
