#include "base/varint.h"

#include <gtest/gtest.h>

#include <string>

namespace llmprof {
namespace {

TEST(Varint, IsReadAsItWasWritten) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{127}, uint64_t{128},
                               uint64_t{300}, uint64_t{1} << 63U, UINT64_MAX}) {
    char bytes[kLongestVarint];
    std::string_view text(bytes, static_cast<size_t>(put_varint(bytes, value) - bytes));
    EXPECT_EQ(take_varint(text), value);
    EXPECT_TRUE(text.empty());
    EXPECT_EQ(from_zigzag(zigzag(value)), value);
  }
}

TEST(Varint, IsLowestBitsFirst) {
  char bytes[kLongestVarint];
  EXPECT_EQ(std::string(bytes, put_varint(bytes, 300)), "\xAC\x02");
}

TEST(Varint, TakesNothingOfWhatIsCutOffOrTooLong) {
  std::string_view cut("\x80\x80");
  EXPECT_EQ(take_varint(cut), std::nullopt);
  const std::string many(11, '\x80');
  std::string_view too_long(many);
  EXPECT_EQ(take_varint(too_long), std::nullopt);
}

TEST(Zigzag, MakesSmallNumbersOfBothSignsSmall) {
  EXPECT_EQ(zigzag(0), 0U);
  EXPECT_EQ(zigzag(static_cast<uint64_t>(-1)), 1U);
  EXPECT_EQ(zigzag(1), 2U);
}

}  // namespace
}  // namespace llmprof
