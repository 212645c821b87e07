#include "profile/finding_values.h"

#include <gtest/gtest.h>

#include "testing/reasons.h"

namespace llmprof::profile {
namespace {

std::vector<FindingValue> example() {
  FindingValues values;
  values.add("kernel_time", Milliseconds{2}, "norm")
      .add("kernel_time", Milliseconds{1}, "mul")
      .add("gaps", 24)
      .add("compiled", true)
      .add("host", "line\nbreak");
  return std::move(values).take();
}

TEST(FindingValues, AreFoundByNameAndText) {
  const auto values = example();
  EXPECT_EQ(testing::find_quantity<Unit::milliseconds>(values, "kernel_time"), Milliseconds{2});
  EXPECT_EQ(testing::find_quantity<Unit::milliseconds>(values, "kernel_time", "mul"),
            Milliseconds{1});
  EXPECT_EQ(testing::find_quantity<Unit::milliseconds>(values, "kernel_time", "add"), std::nullopt);
  EXPECT_EQ(find_number(values, "gaps"), 24);
  EXPECT_TRUE(has_flag(values, "compiled"));
  EXPECT_FALSE(has_flag(values, "graphs_used"));
}

// A time is never read as a share, nor a number with a unit as a count.
TEST(FindingValues, KeepTheirUnit) {
  const auto values = example();
  EXPECT_EQ(values[0].unit, "ms");
  EXPECT_EQ(testing::find_quantity<Unit::share>(values, "kernel_time"), std::nullopt);
  EXPECT_EQ(find_number(values, "kernel_time"), std::nullopt);
  EXPECT_EQ(testing::find_quantity<Unit::milliseconds>(values, "gaps"), std::nullopt);
  EXPECT_EQ(find_text(values, "kernel_time"), std::nullopt);
}

TEST(FindingValues, HavePrintableTexts) { EXPECT_EQ(find_text(example(), "host"), "line break"); }

}  // namespace
}  // namespace llmprof::profile
