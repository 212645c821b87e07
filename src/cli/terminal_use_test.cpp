#include <gtest/gtest.h>

#include <thread>

#include "cli/output.h"
#include "cli/progress_line.h"
#include "report/terminal/text_layout.h"

namespace llmprof::cli {
namespace {

const TerminalVariables kUsual = {"xterm-256color", "", ""};

TEST(TerminalHere, ColorsOnATerminalUnlessSetOtherwise) {
  const OpenTerminal terminal = {true, 100};
  const OpenTerminal pipe = {false, 0};
  EXPECT_TRUE(style_for(terminal, ColorWhen::automatic, kUsual).color);
  EXPECT_FALSE(style_for(pipe, ColorWhen::automatic, kUsual).color);
  EXPECT_FALSE(style_for(terminal, ColorWhen::automatic, {"xterm", "1", ""}).color);
  EXPECT_FALSE(style_for(terminal, ColorWhen::automatic, {"dumb", "", ""}).color);
  EXPECT_FALSE(style_for(terminal, ColorWhen::automatic, {"", "", ""}).color);
  EXPECT_FALSE(style_for(terminal, ColorWhen::never, kUsual).color);
  EXPECT_TRUE(style_for(pipe, ColorWhen::always, {"dumb", "1", ""}).color);
}

TEST(TerminalHere, KnowsTheWidth) {
  const auto width = [](OpenTerminal terminal, const std::string& columns) {
    return style_for(terminal, ColorWhen::never, {"xterm", "", columns}).width;
  };
  EXPECT_EQ(width({true, 120}, ""), 120U);
  EXPECT_EQ(width({true, 120}, "70"), 70U);
  EXPECT_EQ(width({true, 0}, ""), kUsualColumns);
  EXPECT_EQ(width({true, 20}, ""), report::kNarrowestTerminal);
  EXPECT_EQ(width({true, 500}, ""), report::kWidestTerminal);
  EXPECT_EQ(width({false, 0}, ""), 0U);
  EXPECT_EQ(width({false, 0}, "90"), 90U);
  EXPECT_EQ(width({true, 120}, "many"), 120U);
  EXPECT_EQ(width({true, 120}, "-3"), 120U);
}

TEST(TerminalHere, RedrawsOnlyWhereALineCanBeErased) {
  EXPECT_TRUE(can_redraw({true, 80}, kUsual));
  EXPECT_FALSE(can_redraw({true, 80}, {"dumb", "", ""}));
  EXPECT_FALSE(can_redraw({false, 0}, kUsual));
}

TEST(Messages, HaveThePrefixOnceAndIndentTheRest) {
  EXPECT_EQ(message_text("one", {}), "llmprof: one\n");
  EXPECT_EQ(message_text("one\ntwo\n    three\n", {}), "llmprof: one\n  two\n    three\n");
  EXPECT_EQ(message_text("one\n\nthree", {}), "llmprof: one\n\n  three\n");
  EXPECT_EQ(message_text("one two three four five six seven eight nine ten", {50, false}),
            "llmprof: one two three four five six seven eight\n  nine ten\n");
  EXPECT_EQ(message_text("one", {0, true}), "\x1B[1mllmprof:\x1B[0m one\n");
}

ProgressState reading() {
  ProgressState state;
  state.what = "reading a/long/folder/with/a/capture.sqlite (nsys SQLite)";
  state.unit = ProgressState::Unit::bytes;
  state.done = 1'250'000'000;
  state.total = 2'900'000'000;
  state.elapsed = std::chrono::milliseconds(3400);
  return state;
}

TEST(ProgressText, SaysHowFarAReadingIs) {
  EXPECT_EQ(progress_text(reading(), 200),
            "llmprof: reading a/long/folder/with/a/capture.sqlite (nsys SQLite): 43 %, 1.2 of 2.9 "
            "GB, 3 s");
  ProgressState small = reading();
  small.done = 7'000'000;
  small.total = 5'000'000;  // more was read than expected
  EXPECT_EQ(progress_text(small, 200),
            "llmprof: reading a/long/folder/with/a/capture.sqlite (nsys SQLite): 99 %, 5 of 5 MB, "
            "3 s");
}

// In a test, stderr is not a terminal.
TEST(ProgressLine, IsNeverSilentForLong) {
  using std::chrono::milliseconds;
  ::testing::internal::CaptureStderr();
  {
    ProgressLine progress({milliseconds(1), milliseconds(20), milliseconds(20)});
    progress.announce("64 ranks share 2 cores");
    progress.set_pass(1, 2);
    progress.begin("control run: the workload, unprofiled");
    std::this_thread::sleep_for(milliseconds(200));
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(log.find("llmprof: 64 ranks share 2 cores\nllmprof: recording 1 of 2, control run: the "
                     "workload, unprofiled, 0 s\n"),
            0U)
      << log;
}

TEST(ProgressLine, SaysNothingOfShortWork) {
  ::testing::internal::CaptureStderr();
  {
    ProgressLine progress;
    progress.begin("control run");
    progress.note("only on a terminal");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(ProgressText, NeverExceedsTheWidth) {
  for (size_t width = 1; width < 120; ++width) {
    EXPECT_LE(report::display_width(progress_text(reading(), width)), width);
  }
  const std::string narrow = progress_text(reading(), 60);
  EXPECT_TRUE(narrow.ends_with(": 43 %, 1.2 of 2.9 GB, 3 s")) << narrow;
  EXPECT_NE(narrow.find("\xE2\x80\xA6"), std::string::npos) << narrow;
}

TEST(ProgressText, NamesStepsAndPasses) {
  ProgressState steps;
  steps.what = "analyzing";
  steps.step = "layers";
  steps.unit = ProgressState::Unit::steps;
  steps.done = 4;
  steps.total = 10;
  EXPECT_EQ(progress_text(steps, 80), "llmprof: analyzing: 40 %, layers (5 of 10), 0 s");
  ProgressState pass;
  pass.what = "control run: the workload, unprofiled";
  pass.recording = 1;
  pass.recordings = 4;
  pass.elapsed = std::chrono::seconds(185);
  EXPECT_EQ(progress_text(pass, 80),
            "llmprof: recording 1 of 4, control run: the workload, unprofiled, 3 min 5 s");
}

}  // namespace
}  // namespace llmprof::cli
