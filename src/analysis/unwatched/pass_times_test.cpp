#include "analysis/unwatched/pass_times.h"

#include <gtest/gtest.h>

namespace llmprof::analysis {
namespace {

constexpr uint32_t kPrefillStage = 0;
constexpr uint32_t kDecodeStage = 1;

// gpt-fast with torch.compile, in microseconds instead of nanoseconds: a prefill that the host
// launches slowly, two graph replays that it launches faster than the GPU ends them, a copy of the
// result, and only then a wait. The copy is taken for the beginning of the next prefill.
class RunsAhead : public ::testing::Test {
 protected:
  void request(Nanoseconds at, Nanoseconds waits_until, bool warmup) {
    pass(kPrefillStage, copied_, {at, at + 20'000}, warmup);
    pass(kDecodeStage, {}, {at + 20'700, at + 21'400}, warmup);
    copied_ = at + 21'500;
    sequence_.waits.push_back({at + 22'000, waits_until});
  }

  std::vector<PassTimes> times(double busy_of_decode) {
    sequence_.start.push_back(*copied_);
    return times_by_instance(time_passes(sequence_, passes_), passes_, stages_,
                             {4'000, busy_of_decode});
  }

 private:
  void pass(uint32_t stage, std::optional<Nanoseconds> before,
            const std::vector<Nanoseconds>& launches, bool warmup) {
    LaunchPass added;
    added.stage = stage;
    added.instance = InstanceId(stages_.instances.size());
    added.first = sequence_.size();
    if (before) sequence_.start.push_back(*before);
    sequence_.start.insert(sequence_.start.end(), launches.begin(), launches.end());
    added.end = sequence_.size();
    passes_.push_back(added);
    StageInstance instance;
    instance.stage = stage;
    instance.warmup = warmup;
    stages_.instances.push_back(instance);
    stages_.stages.resize(2);
  }

  LaunchSequence sequence_;
  std::vector<LaunchPass> passes_;
  Stages stages_;
  std::optional<Nanoseconds> copied_;
};

TEST_F(RunsAhead, AWaitBehindLaterLaunchesEndsThePass) {
  request(0, 100'000, false);
  request(100'500, 200'500, false);
  const auto found = times(78'000);
  EXPECT_EQ(found[kDecodeStage].instances, 2U);
  EXPECT_DOUBLE_EQ(found[kDecodeStage].total, (100'000 - 20'700) + (200'500 - 121'200));
  EXPECT_EQ(found[kPrefillStage].instances, 2U);
  EXPECT_DOUBLE_EQ(found[kPrefillStage].total, 20'700 + (121'200 - 100'000));
}

// Its busy time says nothing of a warm-up that took longer.
TEST_F(RunsAhead, ALongWaitIsOfTheWarmupBeforeIt) {
  request(0, 900'000, true);
  request(900'500, 1'000'500, false);
  const auto found = times(78);
  EXPECT_DOUBLE_EQ(found[kPrefillStage].total, 921'200 - 900'000);
  EXPECT_DOUBLE_EQ(found[kDecodeStage].total, 1'000'500 - 921'200);
}

}  // namespace
}  // namespace llmprof::analysis
