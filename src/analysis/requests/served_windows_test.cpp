#include "analysis/requests/served_windows.h"

#include <gtest/gtest.h>

#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

constexpr uint32_t kServedLayers = 4;

// An engine that decodes and reads its results, times in us. A pass runs from `start` to `end`; its
// results are copied to the host in the next 2 us.
class Engine {
 public:
  Engine() {
    for (const char* name : {"prefill", "decode", "mixed"}) t_.stage(name);
    t_.stages().serving = true;
    t_.stages().confidence = ConfidenceLevel::high;
  }

  // The host requests results but continues with the batch's next pass.
  Engine& pass(StepKind kind, uint64_t rows, Nanoseconds start, Nanoseconds end) {
    t_.instance(static_cast<uint32_t>(kind), start * 1000, end * 1000);
    Step& step = t_.step(start * 1000, end * 1000);
    step.kind = kind;
    step.layers = kServedLayers;
    if (rows > 0) step.batch = rows;
    t_.launched("k", start * 1000 - 500, start * 1000, end * 1000);
    if (rows == 0) return *this;
    const uint32_t asked = t_.call("cuMemcpyDtoHAsync", end * 1000 - 200, end * 1000 - 100);
    t_.copy(end * 1000, (end + 2) * 1000, asked);
    return *this;
  }
  // The host waits for the last pass's results until 3 us after it, then takes `choose` us for each
  // of `rows` tokens.
  Engine& waits(Nanoseconds end, Nanoseconds rows = 0, Nanoseconds choose = 0) {
    t_.call("cuStreamSynchronize", end * 1000, (end + 3) * 1000);
    for (Nanoseconds i = 1; i <= rows; ++i) {
      const Nanoseconds chosen = (end + 3 + i * choose) * 1000;
      t_.call("cuStreamSynchronize", chosen - 10, chosen);
    }
    return *this;
  }
  Engine& moves_cache(Nanoseconds start, std::string_view direction) {
    t_.outside();
    for (Nanoseconds i = 0; i < kServedLayers; ++i) {
      t_.copy((start + i) * 1000, (start + i) * 1000 + 900, 0, direction);
    }
    return *this;
  }
  // An overhead budget stops recording from `from` until `until`.
  Engine& pauses(Nanoseconds from, Nanoseconds until) {
    t_.tracing_changes(from * 1000, false, trace::TracingReason::budget);
    t_.tracing_changes(until * 1000, true, trace::TracingReason::budget);
    return *this;
  }
  Engine& opens_window(Nanoseconds time) {
    t_.tracing_changes(time * 1000, true, trace::TracingReason::command);
    return *this;
  }

  std::vector<profile::ServedWindow> served() {
    const trace::Trace trace = t_.freeze();
    return served_windows(trace, t_.stages());
  }

 private:
  TestTrace t_;
};

// Results arrive at 203, 1203, 2203; two prompts in two passes of one batch.
TEST(ServedWindowsTest, ABatchGivesEachSequenceOneToken) {
  Engine engine;
  engine.pass(StepKind::prefill, 1, 100, 150).pass(StepKind::prefill, 1, 170, 200).waits(200);
  engine.pass(StepKind::decode, 1, 1000, 1100).pass(StepKind::decode, 1, 1150, 1200).waits(1200);
  engine.pass(StepKind::decode, 2, 2000, 2200).waits(2200);
  const auto windows = engine.served();
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(windows[0].batches, 3U);
  EXPECT_EQ(windows[0].passes, 5U);
  EXPECT_EQ(windows[0].sequences_max, 2U);
  EXPECT_EQ(windows[0].prompts, 2U);
  EXPECT_DOUBLE_EQ(windows[0].prompt->value,
                   103'000 / 1e6);  // from 100, the start of its first pass
  EXPECT_EQ(windows[0].tokens, 4U);
  EXPECT_DOUBLE_EQ(windows[0].token->value, 1'000'000 / 1e6);
}

// Of two passes, the host waits at once for the results of the second, or of both: the capture's
// own times show which, not a fixed one.
TEST(ServedWindowsTest, AHostThatWaitsAtOnceIsSooner) {
  const auto batches = [](Nanoseconds until_first_wait, Nanoseconds until_second_wait) {
    Engine engine;
    for (Nanoseconds i = 0; i < 10; ++i) {
      const Nanoseconds start = 100 + 5'000 * i;
      engine.pass(StepKind::decode, 1, start, start + 100).waits(start + 100 + until_first_wait);
      engine.pass(StepKind::decode, 1, start + 1'000, start + 1'100)
          .waits(start + 1'100 + until_second_wait);
    }
    const auto windows = engine.served();
    return windows.size() == 1 ? windows[0].batches : 0;
  };
  EXPECT_EQ(batches(200, 1), 10U);
  EXPECT_EQ(batches(40, 5), 10U);
  EXPECT_EQ(batches(5, 5), 20U);
  EXPECT_EQ(batches(200, 200), 20U);
}

// A new prompt waits for a cache transfer, and so does the token of the sequence in decode. The
// prompt's own time starts when the transfer has ended, at 603.9.
TEST(ServedWindowsTest, TokensWaitForMovesOfCachesAndPromptsBeginAfterThem) {
  Engine engine;
  engine.pass(StepKind::prefill, 1, 100, 200).waits(200);
  engine.pass(StepKind::decode, 1, 300, 400).waits(400);
  engine.moves_cache(600, "Host-to-Device");
  engine.pass(StepKind::mixed, 1, 700, 750).pass(StepKind::prefill, 1, 770, 1000).waits(1000);
  engine.pass(StepKind::decode, 2, 1050, 1100).waits(1100);
  const auto windows = engine.served();
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(windows[0].prompts, 2U);
  EXPECT_DOUBLE_EQ(windows[0].prompt->value, (103'000 + 399'100) / 2.0 / 1e6);
  EXPECT_EQ(windows[0].tokens, 4U);
  EXPECT_DOUBLE_EQ(windows[0].token->value, (200'000 + 600'000 + 2 * 100'000) / 4.0 / 1e6);
}

// The host chooses three tokens in 30 us each: on average 60 us after the results arrive.
TEST(ServedWindowsTest, APromptEndsWhenItsTokenIsChosen) {
  Engine engine;
  engine.pass(StepKind::prefill, 3, 100, 200).waits(200, 3, 30);
  engine.pass(StepKind::decode, 3, 400, 500).waits(500, 3, 30);
  const auto windows = engine.served();
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_DOUBLE_EQ(windows[0].prompt->value, 163'000 / 1e6);
  EXPECT_DOUBLE_EQ(windows[0].token->value, 300'000 / 1e6);
}

// The second prompt takes two batches: its time starts at 203, when the host has chosen the first
// prompt's token.
TEST(ServedWindowsTest, APromptOfSeveralBatchesBeginsWithTheFirst) {
  Engine engine;
  engine.pass(StepKind::prefill, 1, 100, 200).waits(200);
  engine.pass(StepKind::prefill, 0, 330, 500).pass(StepKind::decode, 1, 510, 600).waits(600);
  engine.pass(StepKind::decode, 1, 700, 720).pass(StepKind::prefill, 1, 730, 900).waits(900);
  const auto windows = engine.served();
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(windows[0].prompts, 2U);
  EXPECT_DOUBLE_EQ(windows[0].prompt->value, (103'000 + 700'000) / 2.0 / 1e6);
  EXPECT_DOUBLE_EQ(windows[0].token->value, (400'000 + 300'000) / 2.0 / 1e6);
}

TEST(ServedWindowsTest, EachWindowThatSomebodyOpenedIsSeparate) {
  Engine engine;
  engine.opens_window(0).opens_window(5000);
  for (const Nanoseconds start : {100, 6000}) {
    engine.pass(StepKind::prefill, 1, start, start + 100).waits(start + 100);
    engine.pass(StepKind::decode, 1, start + 200, start + 300).waits(start + 300);
  }
  const auto windows = engine.served();
  ASSERT_EQ(windows.size(), 2U);
  EXPECT_DOUBLE_EQ(windows[1].start.value, 6);
  EXPECT_EQ(windows[1].tokens, 1U);  // none between the windows
  EXPECT_DOUBLE_EQ(windows[1].token->value, 200'000 / 1e6);
}

// Of the batch that ran when recording stopped, the host's wait is unknown. Its pass is no part of
// the next recorded batch, which has one sequence.
TEST(ServedWindowsTest, NoBatchReachesOverUnrecordedTime) {
  Engine engine;
  engine.opens_window(0);
  engine.pass(StepKind::decode, 1, 100, 200).waits(200);
  engine.pass(StepKind::decode, 1, 300, 400).waits(400);
  engine.pass(StepKind::decode, 3, 500, 600);
  engine.pauses(610, 5000);
  engine.pass(StepKind::decode, 1, 5100, 5200).waits(5200);
  engine.pass(StepKind::decode, 1, 5300, 5400).waits(5400);
  const auto windows = engine.served();
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(windows[0].batches, 4U);
  EXPECT_EQ(windows[0].sequences_max, 1U);
  EXPECT_EQ(windows[0].tokens, 2U);
}

// A prompt and a sequence in decode in one pass: it is unknown which one gets the token.
TEST(ServedWindowsTest, RefusesPassesThatTakeBoth) {
  Engine engine;
  engine.pass(StepKind::prefill, 1, 100, 200).waits(200);
  engine.pass(StepKind::mixed, 1, 300, 400).waits(400);
  engine.pass(StepKind::decode, 1, 500, 600).waits(600);
  EXPECT_TRUE(engine.served().empty());
}

TEST(ServedWindowsTest, RefusesMoreSequencesThanThereAre) {
  Engine engine;
  engine.pass(StepKind::prefill, 1, 100, 200).waits(200);
  engine.pass(StepKind::decode, 3, 300, 400).waits(400);
  EXPECT_TRUE(engine.served().empty());
}

}  // namespace
}  // namespace llmprof::analysis
