#include <gtest/gtest.h>

#include "report/sections/sections.h"
#include "testing/shown.h"

namespace llmprof::report {
namespace {

profile::Profile with_passes(std::vector<profile::RecordingOverhead> passes) {
  profile::Profile profile;
  profile.overhead.emplace();
  profile.overhead->passes = std::move(passes);
  profile.overhead->warn_above_share = profile::Share{0.25};
  return testing::shown(std::move(profile));
}

profile::RecordingOverhead overhead_of(RecordingName name, std::string stage, double ratio) {
  profile::RecordingOverhead made;
  made.pass = name;
  made.stage = std::move(stage);
  made.ratio = ratio;
  return made;
}

TEST(OverheadWords, TheSlowestPassThatTimesAreTakenFrom) {
  const auto profile = with_passes({overhead_of(RecordingName::nsys, "decode", 1.1),
                                    overhead_of(RecordingName::collector, "decode", 1.2),
                                    overhead_of(RecordingName::ncu, "decode", 90)});
  EXPECT_EQ(
      overhead_words(profile),
      "Profiling slows decode down most in the collector recording: it takes 1.200 times as long "
      "as in the control run.");
}

TEST(OverheadWords, MuchOverheadIsAWarning) {
  const auto profile = with_passes({overhead_of(RecordingName::nsys, "decode", 1.5)});
  EXPECT_NE(overhead_words(profile).find("more than 25 % overhead"), std::string::npos);
}

// The control run compiled code that the other passes found in a cache.
TEST(OverheadWords, APassThatWasFasterIsNotSlowedDown) {
  profile::RecordingOverhead whole = overhead_of(RecordingName::collector, "whole run", 0.589);
  whole.whole_run = true;
  EXPECT_EQ(overhead_words(with_passes({whole})),
            "No recording is slower than the control run: in the collector recording, the whole "
            "run takes "
            "0.589 times as long. The control run comes first, and may have filled caches "
            "(compiled code, files) for the others.");
}

// 2.110 times on a busy machine; light mode would record just as much.
TEST(OverheadWords, NoiseIsNotBlamedOnProfiling) {
  profile::RecordingOverhead noisy = overhead_of(RecordingName::collector, "decode", 2.11);
  noisy.other_cause = profile::OtherCause::spread;
  EXPECT_EQ(
      overhead_words(with_passes({noisy})),
      "In the collector recording, decode takes 2.110 times as long as in the control run: within "
      "the spread of the workload's own times, so not measurably slower.");
  noisy.other_cause = profile::OtherCause::cpus_short;
  EXPECT_EQ(overhead_words(with_passes({noisy})).find("Profiling slows"), std::string::npos);
  // Overhead without another cause comes first.
  EXPECT_NE(overhead_words(with_passes({noisy, overhead_of(RecordingName::torch, "decode", 1.4)}))
                .find("in the torch recording: it takes 1.400 times"),
            std::string::npos);
}

TEST(OverheadWords, LightModeIsAdvisedWhereItRecordsLess) {
  const auto words = [](RecordingName pass) {
    return overhead_words(with_passes({overhead_of(pass, "decode", 1.5)}));
  };
  EXPECT_NE(words(RecordingName::torch).find("run.mode=light"), std::string::npos);
  EXPECT_EQ(words(RecordingName::collector).find("run.mode=light"), std::string::npos);
}

}  // namespace
}  // namespace llmprof::report
