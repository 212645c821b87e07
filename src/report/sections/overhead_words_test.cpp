#include <gtest/gtest.h>

#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

profile::Profile with_passes(std::vector<profile::PassOverhead> passes) {
  profile::Profile profile;
  profile.overhead.emplace();
  profile.overhead->passes = std::move(passes);
  profile.overhead->warn_above_share = profile::Share{0.25};
  return profile;
}

profile::PassOverhead overhead_of(std::string name, std::string stage, double ratio) {
  profile::PassOverhead made;
  made.pass = std::move(name);
  made.stage = std::move(stage);
  made.ratio = ratio;
  return made;
}

TEST(OverheadWords, TheSlowestPassThatTimesAreTakenFrom) {
  const auto profile =
      with_passes({overhead_of("nsys", "decode", 1.1), overhead_of("collector", "decode", 1.2),
                   overhead_of("ncu", "decode", 90)});
  EXPECT_EQ(overhead_words(profile),
            "Profiling slows decode down most in the collector pass: it takes 1.200 times as long "
            "as in the control run.");
}

TEST(OverheadWords, MuchOverheadIsAWarning) {
  const auto profile = with_passes({overhead_of("nsys", "decode", 1.5)});
  EXPECT_NE(overhead_words(profile).find("more than 25 % overhead"), std::string::npos);
}

// A control run that compiled what the other passes found in a cache.
TEST(OverheadWords, APassThatWasFasterIsNotSlowedDown) {
  profile::PassOverhead whole = overhead_of("collector", "whole run", 0.589);
  whole.whole_run = true;
  EXPECT_EQ(overhead_words(with_passes({whole})),
            "No pass is slower than the control run: in the collector pass, the whole run takes "
            "0.589 times as long. The control run comes first, and may have filled caches "
            "(compiled code, files) for the others.");
}

}  // namespace
}  // namespace llmprof::report
