#include "analysis/untraced/launch_passes.h"

#include <gtest/gtest.h>

#include "analysis/untraced/pass_times.h"

namespace llmprof::analysis {
namespace {

constexpr uint32_t kPrefill = 0;
constexpr uint32_t kDecode = 1;

// A program with prefills of 12 kernels in three layers and decodes of one graph; it waits after
// each.
class LaunchingProgram {
 public:
  // Another process has other handles.
  explicit LaunchingProgram(uint64_t first_handle) : handle_(first_handle) {}

  void prefill() {
    begin(kPrefill);
    launch(0);
    for (int layer = 0; layer < 3; ++layer) {
      for (uint64_t kernel = 1; kernel <= 3; ++kernel) launch(kernel);
    }
    launch(4);
    launch(5);
    end(900);
  }
  void decode(Nanoseconds time = 100) {
    begin(kDecode);
    launch(99, true);
    end(time);
  }
  // The host waits after this many launches; 80 more follow.
  void begin_long_prefill(uint64_t launches, Nanoseconds time) {
    begin(kPrefill);
    for (uint64_t i = 0; i < launches; ++i) launch(40 + i);
    wait(time);
    for (uint64_t i = 0; i < 80; ++i) launch(50 + i);
    passes_.back().end = sequence.size();
  }
  void decode_ahead() {
    begin(kDecode);
    launch(99, true);
    passes_.back().end = sequence.size();
    now_ += 10;
  }
  void wait(Nanoseconds time) {
    sequence.waits.push_back({now_, now_ + time});
    now_ += time;
  }
  void other_work(uint64_t launches = 10) {
    for (uint64_t kernel = 20; kernel < 20 + launches; ++kernel) launch(kernel);
  }
  void pause(Nanoseconds time) { now_ += time; }

  [[nodiscard]] const std::vector<LaunchPass>& passes() const { return passes_; }
  [[nodiscard]] std::vector<uint32_t> tokens() const { return launch_tokens(sequence); }

  LaunchSequence sequence;

 private:
  void begin(uint32_t stage) { passes_.push_back({stage, sequence.size(), 0, {}}); }
  void launch(uint64_t kernel, bool graph = false) {
    sequence.start.push_back(now_++);
    sequence.graph.push_back(graph);
    sequence.handle.push_back(handle_ + kernel);
  }
  void end(Nanoseconds time) {
    passes_.back().end = sequence.size();
    wait(time);
  }

  uint64_t handle_;
  Nanoseconds now_ = 1000;
  std::vector<LaunchPass> passes_;
};

std::vector<uint32_t> stages_of(const std::vector<LaunchPass>& passes) {
  std::vector<uint32_t> stages;
  for (const LaunchPass& pass : passes) stages.push_back(pass.stage);
  return stages;
}

TEST(LaunchTokens, AreTheSameInAnotherProcess) {
  LaunchingProgram one(100);
  LaunchingProgram other(77'000);
  for (LaunchingProgram* program : {&one, &other}) {
    program->prefill();
    program->decode();
    program->decode();
  }
  EXPECT_EQ(one.tokens(), other.tokens());
}

TEST(PassSignatures, FindPassesInAnotherRun) {
  LaunchingProgram recorded(100);
  recorded.prefill();
  for (int i = 0; i < 3; ++i) recorded.decode();
  PassSignatures signatures;
  signatures.learn(recorded.tokens(), recorded.sequence, recorded.passes());

  LaunchingProgram control(5000);
  control.other_work();  // not in the recorded run
  control.prefill();
  for (int i = 0; i < 2; ++i) control.decode();
  control.prefill();
  control.decode();
  const auto found = signatures.find(control.tokens(), 0, control.sequence.size());
  EXPECT_EQ(stages_of(found), stages_of(control.passes()));
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0].first, control.passes()[0].first);
  EXPECT_EQ(found[3].end, control.passes()[3].end);
}

TEST(PassSignatures, DoNotLearnAFewKernels) {
  LaunchingProgram recorded(100);
  recorded.other_work();
  std::vector<LaunchPass> few = {{kPrefill, 0, 7, {}}};
  PassSignatures signatures;
  signatures.learn(recorded.tokens(), recorded.sequence, few);
  EXPECT_TRUE(signatures.find(recorded.tokens(), 0, recorded.sequence.size()).empty());
  few.front().end = 8;
  signatures.learn(recorded.tokens(), recorded.sequence, few);
  EXPECT_EQ(signatures.find(recorded.tokens(), 0, recorded.sequence.size()).size(), 1U);
}

TEST(PassSignatures, DoNotTakeTwoPassesForOne) {
  LaunchingProgram recorded(100);
  for (int i = 0; i < 4; ++i) recorded.decode();
  std::vector<LaunchPass> passes = recorded.passes();
  passes[2].end = passes[3].end;  // found as one
  passes.pop_back();
  PassSignatures signatures;
  signatures.learn(recorded.tokens(), recorded.sequence, passes);
  EXPECT_EQ(signatures.find(recorded.tokens(), 0, recorded.sequence.size()).size(), 4U);
}

// Three launches are captured into the decode's graph.
TEST(PassSignatures, FoundPassesBeginWithWhatIsCapturedIntoThem) {
  LaunchingProgram recorded(100);
  recorded.other_work(3);
  recorded.decode();
  std::vector<LaunchPass> passes = recorded.passes();
  passes.front().lead = 3;
  PassSignatures signatures;
  signatures.learn(recorded.tokens(), recorded.sequence, passes);

  LaunchingProgram control(5000);
  control.decode();
  control.other_work(2);
  control.decode();
  control.other_work(5);
  control.decode();
  const auto leads = [&](size_t first) {
    std::vector<size_t> found;
    for (const LaunchPass& pass :
         signatures.find(control.tokens(), first, control.sequence.size())) {
      found.push_back(pass.lead);
    }
    return found;
  };
  EXPECT_EQ(leads(0), (std::vector<size_t>{0, 2, 3}));  // no launch belongs to two passes
  EXPECT_EQ(leads(2), (std::vector<size_t>{1, 3}));     // nor to launches before the searched part
}

// `cut`: the program is part of a longer sequence.
void expect_decodes(const LaunchingProgram& program, uint64_t passes, double per_pass,
                    bool cut = false) {
  std::vector<PassTimes> times(2);
  add_times_by_run(time_passes(program.sequence, program.passes()), cut, times);
  EXPECT_EQ(times[kDecode].passes, passes);
  EXPECT_DOUBLE_EQ(times[kDecode].per_pass(), per_pass);
}

TEST(PassTimes, BeginWithWhatIsCapturedIntoTheirGraph) {
  LaunchingProgram program(1);
  program.other_work(5);  // at 1000, ..., 1004
  program.decode(100);    // launched at 1005, waited for until 1106
  std::vector<LaunchPass> passes = program.passes();
  for (const size_t lead : {size_t{0}, size_t{3}}) {
    passes.front().lead = lead;
    const auto timed = time_passes(program.sequence, passes);
    EXPECT_EQ(timed.at(0).start, 1005 - static_cast<Nanoseconds>(lead));
    EXPECT_EQ(timed.at(0).done, 1106);
  }
}

// The program waits between capturing and launching, but not for the previous pass.
TEST(PassTimes, WhatTheNextPassBeginsWithDoesNotEndThePassBefore) {
  LaunchingProgram program(1);
  program.decode_ahead();
  program.other_work(3);
  program.wait(50);
  program.decode_ahead();
  std::vector<LaunchPass> passes = program.passes();
  EXPECT_TRUE(time_passes(program.sequence, passes).at(0).done);
  passes.back().lead = 3;
  EXPECT_FALSE(time_passes(program.sequence, passes).at(0).done);
}

TEST(PassTimes, EndWithTheWaitForThem) {
  LaunchingProgram program(1);
  program.prefill();
  program.decode(200);
  const auto timed = time_passes(program.sequence, program.passes());
  ASSERT_EQ(timed.size(), 2U);
  EXPECT_EQ(timed[0].done, timed[1].start);
  EXPECT_EQ(*timed[1].done - timed[1].start, 201);
}

TEST(PassTimes, OfARunLeaveOutPausesOfTheHost) {
  LaunchingProgram program(1);
  for (int i = 0; i < 4; ++i) program.decode(99);
  program.pause(100'000);
  for (int i = 0; i < 4; ++i) program.decode(99);
  expect_decodes(program, 8, 100);
}

TEST(PassTimes, OfARunLeaveOutAPassThatIsNotLikeTheOthers) {
  LaunchingProgram program(1);
  for (int i = 0; i < 8; ++i) program.decode(i == 3 ? 5000 : 99);
  expect_decodes(program, 7, 100);
}

TEST(PassTimes, OfAProgramThatRunsAheadAreOfTheWholeRun) {
  LaunchingProgram program(1);
  for (int i = 0; i < 10; ++i) program.decode_ahead();
  program.wait(890);
  expect_decodes(program, 10, 100);
}

// Tokens are joined before the host waits: the whole run lasts until then.
TEST(PassTimes, AFewLaunchesMayComeBeforeTheWait) {
  LaunchingProgram program(1);
  for (int request = 0; request < 2; ++request) {
    for (int i = 0; i < 10; ++i) program.decode_ahead();
    program.other_work();
    program.wait(880);
    program.pause(10'000);
  }
  expect_decodes(program, 20, 100);
}

// The kernels that join a decode's tokens may look like the start of the next prefill.
TEST(PassTimes, AWaitBehindTheFirstLaunchesEndsThePassBefore) {
  LaunchingProgram program(1);
  for (int i = 0; i < 10; ++i) program.decode_ahead();
  program.begin_long_prefill(2, 880);
  const auto timed = time_passes(program.sequence, program.passes());
  ASSERT_EQ(timed.size(), 11U);
  ASSERT_TRUE(timed[9].done);
  EXPECT_EQ(*timed[9].done - timed[0].start, 10 * 11 + 2 + 880);
  EXPECT_EQ(timed[10].start, *timed[9].done);
}

// The launches between them belong to another stage, which was not found.
TEST(PassTimes, ManyLaunchesEndARun) {
  LaunchingProgram program(1);
  for (int request = 0; request < 2; ++request) {
    for (int i = 0; i < 10; ++i) program.decode_ahead();
    for (int i = 0; i < 5; ++i) program.other_work();
    program.wait(10'000);
  }
  expect_decodes(program, 20, 11);
}

TEST(PassTimes, ARunThatTunesIsLeftOut) {
  LaunchingProgram program(1);
  for (int request = 0; request < 4; ++request) {
    for (int i = 0; i < 10; ++i) program.decode_ahead();
    program.wait(request == 0 ? 100'000 : 890);
    program.pause(10'000);
  }
  expect_decodes(program, 30, 100);
}

TEST(PassTimes, AtTheCutOfASequenceTheLastPassHasNoEnd) {
  LaunchingProgram program(1);
  for (int i = 0; i < 5; ++i) program.decode_ahead();
  expect_decodes(program, 4, 11, true);
}

// Two requests: a prefill that the host does not wait for, and two decodes.
struct Requests {
  Requests() {
    stages.stages.resize(2);
    stages.stages[kPrefill].name = "prefill";
    stages.stages[kDecode].name = "decode";
    for (int request = 0; request < 2; ++request) {
      for (const uint32_t stage : {kPrefill, kDecode}) {
        StageInstance instance;
        instance.stage = stage;
        instance.warmup = request == 0;
        stages.instances.push_back(instance);
      }
    }
  }
  Stages stages;
};

TimedPass timed(uint32_t stage, Nanoseconds start, Nanoseconds launched, Nanoseconds next) {
  TimedPass pass;
  pass.stage = stage;
  pass.start = start;
  pass.launched = launched;
  pass.next = next;
  return pass;
}

TEST(PassTimes, AStageThatIsNotWaitedForEndsNoSoonerThanItsWork) {
  const Requests requests;
  // The prefill's launches take 10 and its work 60; the decodes of 20 each end at 100.
  std::vector<TimedPass> passes;
  std::vector<LaunchPass> recorded;
  for (size_t request = 0; request < 2; ++request) {
    const auto begin = static_cast<Nanoseconds>(1000 * (request + 1));
    passes.push_back(timed(kPrefill, begin, begin, begin + 10));
    passes.push_back(timed(kDecode, begin + 10, begin + 10, begin + 20));
    passes.push_back(timed(kDecode, begin + 20, begin + 20, begin + 1000));
    passes.back().done = begin + 100;
    recorded.push_back({kPrefill, 0, 1, InstanceId(2 * request)});
    recorded.push_back({kDecode, 1, 2, InstanceId(2 * request + 1)});
    recorded.push_back({kDecode, 2, 3, InstanceId(2 * request + 1)});
  }
  const auto times = times_by_instance(passes, recorded, requests.stages, {60, 40}, {{}, {}});
  EXPECT_EQ(times[kPrefill].instances, 1U);  // the other is warm-up
  EXPECT_DOUBLE_EQ(times[kPrefill].total, 60);
  EXPECT_EQ(times[kDecode].passes, 2U);
  EXPECT_DOUBLE_EQ(times[kDecode].total, 40);
}

// A prefill is launched from 0 to 20 and ends at 60, with 40 busy; the host prepares the decode
// until 100. The decode's launches run ahead, and the next request's first launch follows at once.
TEST(PassTimes, WhereNoWaitIsNotedTheTracedRunShowsWhenTheGpuHadEnded) {
  Requests requests;
  std::vector<TimedPass> passes;
  std::vector<LaunchPass> recorded;
  for (size_t request = 0; request < 2; ++request) {
    const auto begin = static_cast<Nanoseconds>(1000 * (request + 1));
    StageInstance& prefill = requests.stages.instances[2 * request];
    prefill.end = begin + 60;
    prefill.work.busy = 30;
    requests.stages.instances[2 * request + 1].end = begin + 196;
    passes.push_back(timed(kPrefill, begin, begin + 20, begin + 100));
    passes.push_back(timed(kDecode, begin + 100, begin + 100, begin + 200));
    recorded.push_back({kPrefill, 0, 1, InstanceId(2 * request)});
    recorded.push_back({kDecode, 1, 2, InstanceId(2 * request + 1)});
  }
  const std::vector<UnnotedEnd> ends = unnoted_ends(passes, recorded, requests.stages);
  EXPECT_DOUBLE_EQ(ends[kPrefill].share_until_next, 0.6);
  EXPECT_DOUBLE_EQ(ends[kPrefill].after_last_launch, 35);  // mean of 30 and 40
  EXPECT_DOUBLE_EQ(ends[kDecode].share_until_next, 0.96);

  // Without tracing the host is faster: launched until 10, the decode from 70 on, until 150.
  for (size_t request = 0; request < 2; ++request) {
    const auto begin = static_cast<Nanoseconds>(1000 * (request + 1));
    passes[2 * request].launched = begin + 10;
    passes[2 * request].next = begin + 70;
    passes[2 * request + 1].start = begin + 70;
    passes[2 * request + 1].next = begin + 150;
  }
  const auto times = times_by_instance(passes, recorded, requests.stages, {30, 20}, ends);
  EXPECT_DOUBLE_EQ(times[kPrefill].total, 10 + 35);
  EXPECT_NEAR(times[kDecode].total, 0.96 * 80, 1e-6);
}

// Two launches are captured in the recorded run, four in this one, after a pause of 400.
TEST(PassTimes, ACaptureBeginsBehindThePauseOfItsPreparation) {
  LaunchSequence sequence;
  for (const Nanoseconds start : {0, 20, 420, 440, 460, 480, 500}) {
    sequence.start.push_back(start);
    sequence.graph.push_back(start == 500);
    sequence.handle.push_back(1);
  }
  const std::vector<LaunchPass> launched = {{kPrefill, 6, 7, {}, 2}};
  EXPECT_EQ(time_passes(sequence, launched).front().start, 460);
  const TimedPass found = time_passes(sequence, launched, {500, 0}).front();
  EXPECT_EQ(found.start, 420);
  EXPECT_EQ(found.before, 400);
  EXPECT_EQ(time_passes(sequence, launched, {1000, 0}).front().start, 460);  // no such pause
}

// The program closes its streams long after its last pass.
TEST(PassTimes, AWaitThatHoldsNobodyIsNotThePasss) {
  LaunchSequence sequence;
  for (const Nanoseconds start : {0, 10, 100, 110}) {
    sequence.start.push_back(start);
    sequence.graph.push_back(false);
    sequence.handle.push_back(1);
  }
  sequence.waits = {{12, 40}, {9000, 9010}};
  const std::vector<LaunchPass> launched = {{kDecode, 0, 2, {}}, {kDecode, 2, 4, {}}};
  const std::vector<TimedPass> found = time_passes(sequence, launched);
  EXPECT_EQ(found[0].done, 40);
  EXPECT_EQ(found[1].before, 60);
  EXPECT_FALSE(found[1].done);
}

}  // namespace
}  // namespace llmprof::analysis
