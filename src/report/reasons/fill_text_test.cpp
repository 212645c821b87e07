#include "report/reasons/fill_text.h"

#include <gtest/gtest.h>

namespace llmprof::report {
namespace {

std::string filled(std::string_view text) {
  profile::FindingValues values;
  values.add("steps", 3)
      .add("batch", 64, "--batch")
      .add("gpu", "H200 [a]")
      .add("on", true)
      .add("off", false)
      .add("share", profile::Share{0.125});
  return fill_text(text, std::move(values).take());
}

TEST(FillText, ShowsValuesAsAskedFor) {
  EXPECT_EQ(filled("{gpu}: {steps}, {steps:#step}, {batch:()}, {batch:source}"),
            "H200 [a]: 3, 3 steps, 64 (--batch), --batch");
  EXPECT_EQ(filled("{share:percent} {share:0%} {share:g%} {share:.2f}"), "12.5 % 12 % 12.5 % 0.12");
  EXPECT_EQ(filled("{steps:were} {steps:plain} {steps:mean step} {share:mean step}"),
            "were 3 3 steps 0.1 steps on average");
}

TEST(FillText, LeavesOutWhatDoesNotHold) {
  EXPECT_EQ(filled("[gpu?a][none?b][on?c][off?d][!off?e][none|on?f]"), "acef");
  EXPECT_EQ(filled("[steps=3?a][steps=2?b][steps>2?c][!steps>3?d]"), "acd");
  EXPECT_EQ(filled("[@batch?a][@steps?b][on?c[off?d]e{steps}]f"), "ace3f");
}

}  // namespace
}  // namespace llmprof::report
