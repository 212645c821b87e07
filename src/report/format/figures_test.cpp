#include "report/format/figures.h"

#include <gtest/gtest.h>

namespace llmprof::report {
namespace {

using profile::Milliseconds;

TEST(Figures, HaveTheDigitsOfWhatTheyAreOf) {
  EXPECT_EQ(text_of(ms(Milliseconds{57.331589})), "57.332");
  EXPECT_EQ(text_of(fine_ms(Milliseconds{0.00156})), "0.0016");
  EXPECT_EQ(text_of(exact_ms(Milliseconds{57.331089})), "57.331089");
  EXPECT_EQ(text_of(exact_ms(Milliseconds{9e-6})), "0.000009");
  EXPECT_EQ(text_of(exact_ms(Milliseconds{-1.5})), "-1.500000");
  EXPECT_EQ(text_of(percent(profile::Share{0.75453})), "75.5 %");
  EXPECT_EQ(text_of(ratio(1.2345)), "1.234");
  EXPECT_EQ(text_of(in_unit(profile::TokensPerSecond{562.74})), "562.7");
  EXPECT_EQ(text_of(in_unit(profile::FlopsPerByte{12.345})), "12.35");
}

TEST(Figures, GroupCounts) {
  EXPECT_EQ(text_of(grouped(0)), "0");
  EXPECT_EQ(text_of(grouped(41227)), "41,227");
  EXPECT_EQ(text_of(grouped(1234567)), "1,234,567");
  EXPECT_EQ(text_of(plain(462.0)), "462");
  EXPECT_EQ(text_of(plain(462.25)), "462.2");
  EXPECT_EQ(counted(1, "kernel"), "1 kernel");
  EXPECT_EQ(counted(4465, "kernel"), "4,465 kernels");
  EXPECT_EQ(counted(0, "launch"), "0 launches");
}

TEST(Figures, CarryTheirUnits) {
  EXPECT_EQ(text_of(in_unit(profile::Flops{2.5e12})), "2.50 TFLOP");
  EXPECT_EQ(text_of(in_unit(profile::Bytes{0})), "0 B");
  EXPECT_EQ(text_of(in_unit(profile::Bytes{999.4})), "999.40 B");
  EXPECT_EQ(text_of(in_unit(profile::BytesPerSecond{4.8e12})), "4.80 TB/s");
  EXPECT_EQ(text_of(in_unit(profile::FlopsPerSecond{9.89e14})), "989.00 TFLOP/s");
  EXPECT_EQ(text_of(in_unit(profile::Hertz{1.755e9})), "1755 MHz");
  EXPECT_EQ(text_of(in_unit(profile::Joules{0.3984})), "0.398 J");
  EXPECT_EQ(text_of(in_unit(profile::Watts{512.25})), "512.2");
  EXPECT_EQ(text_of(in_unit(profile::DegreesCelsius{66})), "66.0");
}

TEST(Figures, ShowTheDeviationWhereThereIsOne) {
  profile::Statistics<Milliseconds> times;
  EXPECT_EQ(text_of(mean_and_std(times)), "-");
  times.mean = Milliseconds{2};
  times.count = 1;
  EXPECT_EQ(text_of(mean_and_std(times)), "2.000");
  times.std = Milliseconds{1.41421};
  times.count = 2;
  EXPECT_EQ(text_of(mean_and_std(times)), "2.000 \xC2\xB1 1.414");
}

TEST(Figures, StandForMissingNumbers) {
  EXPECT_EQ(text_of(ms(std::nullopt)), "-");
  EXPECT_EQ(text_of(in_unit(std::optional<profile::Bytes>())), "-");
  EXPECT_EQ(or_missing(std::nullopt), "-");
  EXPECT_EQ(or_missing("580.159"), "580.159");
}

TEST(Figures, ReadTheSameInCellsAndSentences) {
  const Figure figure = percent(profile::Share{0.25});
  EXPECT_EQ(text_of(Cell(figure)), "25.0 %");
  EXPECT_EQ(text_of(Cell("text")), "text");
  EXPECT_EQ(fmt::format("{} of wall", figure), "25.0 % of wall");
}

}  // namespace
}  // namespace llmprof::report
