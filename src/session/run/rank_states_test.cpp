#include "session/run/ranks.h"

#include <gtest/gtest.h>

#include "testing/temporary_folder.h"

namespace llmprof::session {
namespace {

constexpr std::string_view kKilled =
    "mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed).\n";

std::optional<capture::Launcher> mpirun(std::optional<uint64_t> ranks) {
  capture::Launcher launcher;
  launcher.name = "mpirun";
  launcher.ranks = ranks;
  return launcher;
}

class RankStates : public ::testing::Test {
 protected:
  capture::CommandRecord pass(int exit_code, std::string_view output) {
    capture::CommandRecord record;
    record.argv = {"mpirun"};
    record.result.end = capture::ProcessEnd::exited;
    record.result.exit_code = exit_code;
    record.log = folder_.write("record.log", output);
    return record;
  }

  static std::string text(const RanksRecord& record) {
    std::string all;
    for (const RankRecord& rank : record.ranks) {
      all += all.empty() ? "" : "; ";
      all += std::to_string(rank.rank) + " " + std::string(to_string(rank.state));
      if (rank.detail) all += ": " + *rank.detail;
    }
    return all;
  }

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(RankStates, AllRecorded) {
  const auto record =
      rank_states(mpirun(2), pass(0, ""), {{0, 10, true}, {1, 11, true}, {1, 12, false}});
  EXPECT_EQ(text(record), "0 recorded; 1 recorded") << "what rank 1 forked may leave by _exit()";
  EXPECT_EQ(record.world_size, 2U);
  EXPECT_FALSE(rank_failure(record, pass(0, ""), ""));
}

TEST_F(RankStates, AKilledRankIsNamedAndThoseEndedWithItAreNot) {
  const auto record =
      rank_states(mpirun(3), pass(137, kKilled), {{0, 10, false}, {1, 11, false}, {2, 12, true}});
  EXPECT_EQ(text(record),
            "0 recorded: ended by mpirun after rank 1 died; 1 died: signal 9 (Killed); 2 recorded");
  const auto failure = rank_failure(record, pass(137, kKilled), "the rest is kept");
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->message.find("rank 1 of 3 died (signal 9 (Killed)); mpirun ended with exit "
                                  "code 137; the rest is kept"),
            std::string::npos)
      << failure->message;
}

TEST_F(RankStates, ARankWithoutALogIsMissing) {
  EXPECT_EQ(text(rank_states(mpirun(2), pass(0, ""), {{0, 10, true}})),
            "0 recorded; 1 missing: it left no log");
  EXPECT_EQ(text(rank_states(mpirun({}), pass(0, ""), {{0, 10, true}})), "0 recorded");
}

TEST_F(RankStates, WithoutAWordOfTheLauncherLogsTell) {
  const std::string died = "died: its log has no end: it was killed, or left without exit()";
  EXPECT_EQ(text(rank_states(mpirun(2), pass(0, ""), {{0, 10, true}, {1, 11, false}})),
            "0 recorded; 1 " + died);
  EXPECT_EQ(text(rank_states(mpirun(2), pass(1, ""), {{0, 10, false}, {1, 11, false}})),
            "0 " + died + "; 1 " + died);
  EXPECT_EQ(text(rank_states(mpirun(2), pass(0, ""), {{0, 10, false}, {1, 11, false}})),
            "0 recorded; 1 recorded")
      << "programs whose ranks all leave by _exit()";
}

TEST_F(RankStates, WhatWeStoppedDidNotDie) {
  auto stopped = pass(0, "");
  stopped.result.end = capture::ProcessEnd::timed_out;
  EXPECT_EQ(text(rank_states(mpirun(2), stopped, {{0, 10, false}, {1, 11, true}})),
            "0 recorded: stopped with the run; 1 recorded");
  auto server = pass(1, kKilled);
  server.asked_to_stop = true;
  EXPECT_EQ(text(rank_states(mpirun(2), server, {{0, 10, false}, {1, 11, false}})),
            "0 recorded: stopped with the run; 1 recorded: stopped with the run");
}

TEST_F(RankStates, ALauncherThatNamesProcesses) {
  EXPECT_EQ(text(rank_states(mpirun(2), pass(9, "=   PID 11 RUNNING AT vm\n=   EXIT CODE: 9\n"),
                             {{0, 10, true}, {1, 11, false}})),
            "0 recorded; 1 died: exit code 9");
}

TEST_F(RankStates, NoJobHasNone) {
  EXPECT_EQ(text(rank_states({}, pass(0, ""), {})), "");
  EXPECT_EQ(text(rank_states({}, pass(1, kKilled), {{0, 10, false}})), "");
  EXPECT_EQ(text(rank_states(mpirun(2), pass(1, "no such file"), {})), "")
      << "a program that does not start is reported as such";
  EXPECT_EQ(text(rank_states({}, pass(0, ""), {{0, 10, true}, {3, 11, true}})),
            "0 recorded; 3 recorded")
      << "a script may have started them";
}

}  // namespace
}  // namespace llmprof::session
