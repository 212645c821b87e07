#include "profile/machine_load.h"

#include <gtest/gtest.h>

#include <vector>

namespace llmprof::profile {
namespace {

TEST(MachineLoad, IsThatOfThePassWithTheTimes) {
  std::vector<RecordingLoad> passes = {{RecordingName::stage1, 3, 2, 1.9, 0.5}};
  EXPECT_EQ(load_of_recording(passes), nullptr);
  passes.push_back({RecordingName::nsys, 3, 2, 1.9, 0.1});
  EXPECT_EQ(load_of_recording(passes), &passes[1]);
  passes.push_back({RecordingName::collector, 3, 2, 1.9, 0.2});
  EXPECT_EQ(load_of_recording(passes), &passes[2]);
}

TEST(MachineLoad, CpusAreShortWhereOthersLeaveNoneIdle) {
  EXPECT_FALSE(cpus_were_short({RecordingName::collector, 3, 2, 1.98, 0.01}));
  EXPECT_TRUE(cpus_were_short({RecordingName::collector, 3, 2, 0.97, 1.03}));
  // Another program on another CPU.
  EXPECT_FALSE(cpus_were_short({RecordingName::collector, 3, 64, 1, 30}));
  EXPECT_TRUE(cpus_were_short({RecordingName::collector, 3, 64, 30, 33}));
}

TEST(MachineLoad, SlowsAPartDownAsIfAllOfItHadFallenThere) {
  // 0.25 CPUs for 4 s are 1 s; the part took 1 s on 2 CPUs.
  EXPECT_DOUBLE_EQ(most_slowed_down({RecordingName::collector, 4, 2, 2, 0.25}, 1), 1.5);
  EXPECT_DOUBLE_EQ(most_slowed_down({RecordingName::collector, 4, 2, 2, 0}, 1), 1);
  // Two programs share a CPU.
  EXPECT_DOUBLE_EQ(most_slowed_down({RecordingName::collector, 4, 2, 1, 1}, 4), 2);
  EXPECT_GT(most_slowed_down({RecordingName::collector, 4, 2, 0, 1}, 0), 100);
}

}  // namespace
}  // namespace llmprof::profile
