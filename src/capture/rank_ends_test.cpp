#include "capture/launcher.h"

#include <gtest/gtest.h>

namespace llmprof::capture {
namespace {

// "1: signal 9 (Killed)"; ranks that the launcher ended are in brackets.
std::vector<std::string> ends_in(std::string_view output) {
  std::vector<std::string> texts;
  for (const RankEnd& end : rank_ends_in(output)) {
    std::string text = end.rank ? std::to_string(*end.rank) : "pid " + std::to_string(*end.process);
    text += ": " + end.how;
    texts.push_back(end.by_launcher ? "(" + text + ")" : text);
  }
  return texts;
}
using Texts = std::vector<std::string>;

TEST(RankEnds, OfOpenMpi) {
  EXPECT_EQ(
      ends_in("Primary job  terminated normally, but 1 process returned\na non-zero exit code.\n"
              "mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 "
              "(Killed).\n"),
      Texts{"1: signal 9 (Killed)"});
  EXPECT_EQ(
      ends_in("The first process to do so was:\n\n  Process name: [[9791,1],12]\n  Exit code:    "
              "3\n"),
      Texts{"12: exit code 3"});
}

TEST(RankEnds, OfOpenMpi5) {
  EXPECT_EQ(
      ends_in("prterun noticed that process rank 2 with PID 71 on node n-1 exited on\nsignal 11 "
              "(Segmentation fault).\n"),
      Texts{"2: signal 11 (Segmentation fault)"});
  EXPECT_EQ(ends_in("   Process name: [prterun-vm-4711@1,3]\n   Exit code:    5\n"),
            Texts{"3: exit code 5"});
}

TEST(RankEnds, OfSlurmAndWhatItEndedItself) {
  EXPECT_EQ(
      ends_in("srun: error: vm: task 1: Killed\n"
              "srun: launch/slurm: _step_signal: Terminating StepId=3.0\n"
              "slurmstepd-vm: error: *** STEP 3.0 ON vm CANCELLED AT 2026-11-16T12:10:19 ***\n"
              "srun: error: vm: tasks 0,2-3: Terminated\n"),
      (Texts{"1: signal 9 (Killed)", "(0: signal 15 (Terminated))", "(2: signal 15 (Terminated))",
             "(3: signal 15 (Terminated))"}));
  EXPECT_EQ(ends_in("srun: error: n2: tasks 8-9: Exited with exit code 3\n"),
            (Texts{"8: exit code 3", "9: exit code 3"}));
  EXPECT_EQ(ends_in("srun: error: n2: task 0: Segmentation fault (core dumped)\n"),
            Texts{"0: signal 11 (Segmentation fault)"});
}

TEST(RankEnds, OfTorchrun) {
  EXPECT_EQ(ends_in("Failures:\n[1]:\n  time      : 2026-11-16\n  host      : vm\n"
                    "  rank      : 0 (local_rank: 0)\n  exitcode  : -15 (pid: 70)\n"
                    "Root Cause (first observed failure):\n[0]:\n"
                    "  rank      : 1 (local_rank: 1)\n  exitcode  : -9 (pid: 71)\n"),
            (Texts{"(0: signal 15 (Terminated))", "1: signal 9 (Killed)"}));
}

TEST(RankEnds, OfHydra) {
  EXPECT_EQ(ends_in("=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
                    "=   PID 4711 RUNNING AT vm\n=   EXIT CODE: 9\n"),
            Texts{"pid 4711: exit code 9"});
  EXPECT_EQ(ends_in("=   RANK 3 PID 4711 RUNNING AT vm\n=   KILLED BY SIGNAL: 9 (Killed)\n"),
            Texts{"3: signal 9 (Killed)"});
}

TEST(RankEnds, NothingOfOtherWords) {
  EXPECT_EQ(ends_in(""), Texts{});
  EXPECT_EQ(ends_in("rank 1 says hello\nsrun: job 7 queued\nsrun: error: vm: task x: Killed\n"),
            Texts{});
  EXPECT_EQ(ends_in(std::string_view("a\0b\n", 4)), Texts{});
  EXPECT_EQ(ends_in("srun: error: vm: tasks 0-99999999999: Killed\n"), Texts{});
}

}  // namespace
}  // namespace llmprof::capture
