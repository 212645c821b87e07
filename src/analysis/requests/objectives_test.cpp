#include "analysis/requests/objectives.h"

#include <gtest/gtest.h>

namespace llmprof::analysis {
namespace {

TEST(Objectives, AreListedWithTheirUnits) {
  const auto parsed = parse_objectives("ttft=500ms, itl=50000us,e2e=2.5s,tpot=1ms");
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->size(), 4U);
  EXPECT_EQ((*parsed)[0].figure, profile::RequestFigure::ttft);
  EXPECT_DOUBLE_EQ((*parsed)[0].limit.value, 500);
  EXPECT_EQ((*parsed)[1].figure, profile::RequestFigure::itl);
  EXPECT_DOUBLE_EQ((*parsed)[1].limit.value, 50);
  EXPECT_DOUBLE_EQ((*parsed)[2].limit.value, 2500);
  EXPECT_EQ((*parsed)[3].figure, profile::RequestFigure::tpot);
}

TEST(Objectives, MistakesAreNamed) {
  const auto refusal = [](std::string_view text) {
    const auto parsed = parse_objectives(text);
    return parsed ? std::string() : parsed.error().message;
  };
  EXPECT_NE(refusal("").find("available: ttft, itl, tpot, e2e"), std::string::npos);
  EXPECT_NE(refusal("ttfb=5ms").find("unknown figure in \"ttfb=5ms\""), std::string::npos);
  EXPECT_NE(refusal("ttft").find("unknown figure"), std::string::npos);
  for (const char* text : {"ttft=5", "ttft=ms", "ttft=-5ms", "ttft=0s", "ttft=nanms", "ttft="}) {
    EXPECT_NE(refusal(text).find("needs a positive time in us, ms or s"), std::string::npos)
        << text;
  }
  EXPECT_NE(refusal("ttft=5ms,ttft=6ms").find("second limit"), std::string::npos);
}

}  // namespace
}  // namespace llmprof::analysis
