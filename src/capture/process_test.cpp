#include "capture/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <thread>

#include "base/files.h"
#include "base/text.h"
#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

using namespace std::chrono_literals;
using testing::TemporaryFolder;

Command shell(std::string script) {
  Command command;
  command.argv = {"/bin/sh", "-c", std::move(script)};
  command.grace = 300ms;
  return command;
}

ProcessResult run(const Command& command) {
  auto result = run_process(command);
  EXPECT_TRUE(result) << result.error().message;
  return result.value_or(ProcessResult{});
}

// Ended, or a zombie that its new parent has not reaped yet.
bool is_gone(pid_t pid) {
  if (::kill(pid, 0) != 0) return true;
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(stat, line);
  return !stat || contains(line, ") Z ");
}

bool goes_away(pid_t pid) {
  for (int i = 0; i < 200 && !is_gone(pid); ++i) std::this_thread::sleep_for(10ms);
  return is_gone(pid);
}

pid_t first_number(std::string_view output) {
  return static_cast<pid_t>(parse_int(trim(output.substr(0, output.find('\n')))).value_or(0));
}

size_t open_descriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

TEST(Process, ReportsExitCodeAndBothStreams) {
  const ProcessResult result = run(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(result.end, ProcessEnd::exited);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_FALSE(result.succeeded());
  EXPECT_EQ(result.output_tail, "out\nerr\n");
  EXPECT_EQ(result.output_bytes, 8U);
  EXPECT_GT(result.duration, 0ns);
  EXPECT_EQ(describe_end(result), "exit code 3");
}

TEST(Process, PassesArgumentsAsTheyAre) {
  Command command;
  command.argv = {"printf", "%s|", "a b", "$HOME", "'\"\\", "*", ""};
  const ProcessResult result = run(command);
  EXPECT_TRUE(result.succeeded());
  EXPECT_EQ(result.output_tail, "a b|$HOME|'\"\\|*||");
}

TEST(Process, HasNothingOnStdin) {
  Command command;
  command.argv = {"cat"};
  command.timeout = 10s;
  const ProcessResult result = run(command);
  EXPECT_TRUE(result.succeeded());
  EXPECT_EQ(result.output_tail, "");
}

TEST(Process, AddsToTheEnvironmentAndReplaces) {
  ::setenv("LLMPROF_TEST_KEPT", "kept", 1);
  ::setenv("LLMPROF_TEST_OLD", "old", 1);
  Command command = shell("echo $LLMPROF_TEST_KEPT $LLMPROF_TEST_OLD $LLMPROF_TEST_NEW");
  command.environment = {{"LLMPROF_TEST_OLD", "replaced"}, {"LLMPROF_TEST_NEW", "new"}};
  EXPECT_EQ(run(command).output_tail, "kept replaced new\n");
  ::unsetenv("LLMPROF_TEST_KEPT");
  ::unsetenv("LLMPROF_TEST_OLD");
}

TEST(Process, RunsInTheFolderAndWritesToTheFiles) {
  const TemporaryFolder folder;
  Command command = shell("pwd; echo err >&2");
  command.working_folder = folder.path();
  command.stdout_file = folder.path() / "out";
  ProcessResult result = run(command);
  EXPECT_EQ(result.output_tail, "err\n");
  EXPECT_EQ(testing::file_bytes(command.stdout_file), folder.path().string() + "\n");

  command.stderr_file = folder.path() / "err";
  result = run(command);
  EXPECT_TRUE(result.succeeded());
  EXPECT_EQ(result.output_tail, "");
  EXPECT_EQ(testing::file_bytes(command.stderr_file), "err\n");
}

TEST(Process, DistinguishesAMissingProgramFromOneThatFails) {
  Command command;
  for (const char* name : {"llmprof-no-such-program", "/nowhere/llmprof-no-such-program"}) {
    command.argv = {name};
    const ProcessResult result = run(command);
    EXPECT_EQ(result.end, ProcessEnd::not_started) << name;
    EXPECT_EQ(result.start_error, ENOENT) << name;
    EXPECT_EQ(describe_end(result), "No such file or directory");
  }
  const TemporaryFolder folder;
  command.argv = {folder.write("plain", "no program").string()};
  EXPECT_EQ(run(command).start_error, EACCES);
  EXPECT_EQ(run(shell("exit 127")).end, ProcessEnd::exited);

  command = shell("true");
  command.working_folder = "/nowhere";
  EXPECT_EQ(run(command).start_error, ENOENT);
}

TEST(Process, RefusesAnEmptyCommandAndAnUnwritableFile) {
  EXPECT_FALSE(run_process(Command{}));
  Command command = shell("true");
  command.stdout_file = "/nowhere/out";
  const auto result = run_process(command);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "/nowhere/out: No such file or directory");
}

TEST(Process, ReportsTheSignal) {
  const ProcessResult result = run(shell("kill -KILL $$"));
  EXPECT_EQ(result.end, ProcessEnd::signalled);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_EQ(describe_end(result), "killed by signal 9 (Killed)");
}

TEST(Process, TimeoutEndsGrandchildrenToo) {
  Command command = shell("sh -c 'echo $$; exec sleep 300' & wait");
  command.timeout = 300ms;
  command.grace = 10s;
  const ProcessResult result = run(command);
  EXPECT_EQ(result.end, ProcessEnd::timed_out);
  // SIGTERM was enough.
  EXPECT_LT(result.duration, 5s);
  const pid_t grandchild = first_number(result.output_tail);
  ASSERT_GT(grandchild, 1);
  EXPECT_TRUE(goes_away(grandchild));
}

TEST(Process, TimeoutKillsWhoeverIgnoresSigterm) {
  Command command = shell("trap '' TERM; sh -c 'echo $$; exec sleep 300' & sleep 300");
  command.timeout = 300ms;
  const ProcessResult result = run(command);
  EXPECT_EQ(result.end, ProcessEnd::timed_out);
  EXPECT_GE(result.duration, 600ms);
  EXPECT_LT(result.duration, 10s);
  const pid_t grandchild = first_number(result.output_tail);
  ASSERT_GT(grandchild, 1);
  EXPECT_TRUE(goes_away(grandchild));
}

TEST(Process, TimeoutKillsAGrandchildThatOutlivesItsParent) {
  Command command = shell("sh -c 'trap \"\" TERM; echo $$; sleep 300; sleep 300' & wait");
  command.timeout = 300ms;
  const ProcessResult result = run(command);
  EXPECT_EQ(result.end, ProcessEnd::timed_out);
  const pid_t grandchild = first_number(result.output_tail);
  ASSERT_GT(grandchild, 1);
  EXPECT_TRUE(goes_away(grandchild));
}

TEST(Process, StopFlagEndsTheGroup) {
  std::atomic<bool> stop = false;
  Command command = shell("sleep 300");
  command.stop = &stop;
  std::thread setter([&] {
    std::this_thread::sleep_for(100ms);
    stop = true;
  });
  const ProcessResult result = run(command);
  setter.join();
  EXPECT_EQ(result.end, ProcessEnd::stopped);
  EXPECT_LT(result.duration, 10s);
}

// As nsys runs the profiled program: in its own session, below a launcher that dies.
constexpr const char* kDaemon =
    "sh -c 'setsid sh -c \"echo \\$\\$; exec sleep 300\" &'; sleep 0.3; ";

TEST(ProcessTree, EndsADaemonWithTheProgramThatLeftIt) {
  Command command = shell(std::string(kDaemon) + "exit 3");
  command.whole_tree = true;
  const ProcessResult result = run(command);
  EXPECT_EQ(result.end, ProcessEnd::exited);
  EXPECT_EQ(result.exit_code, 3);
  const pid_t daemon = first_number(result.output_tail);
  ASSERT_GT(daemon, 1);
  EXPECT_TRUE(is_gone(daemon));
}

TEST(ProcessTree, ATimeoutEndsADaemonThatIgnoresSigterm) {
  Command command = shell("trap '' TERM; " + std::string(kDaemon) + "sleep 300");
  command.whole_tree = true;
  command.timeout = 600ms;
  const ProcessResult result = run(command);
  EXPECT_EQ(result.end, ProcessEnd::timed_out);
  const pid_t daemon = first_number(result.output_tail);
  ASSERT_GT(daemon, 1);
  EXPECT_TRUE(is_gone(daemon));
}

TEST(ProcessTree, LeavesOtherChildrenAlone) {
  const Command other_command = shell("exec sleep 300");
  auto other = RunningProcess::start(other_command);
  ASSERT_TRUE(other);
  Command command = shell(std::string(kDaemon));
  command.whole_tree = true;
  run(command);
  EXPECT_FALSE(is_gone((*other)->pid()));
  (*other)->end();
  EXPECT_EQ((*other)->take_result().end, ProcessEnd::stopped);
}

TEST(ProcessTree, FindsTheWrappedProgram) {
  const TemporaryFolder folder;
  const auto script = folder.write("serve", "#!/bin/sh\nsleep 300 & wait\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  Command command = shell("shift; \"$@\" & wait");
  command.whole_tree = true;
  const std::vector<std::string> argv = {script.string(), "--port", "80"};
  command.argv.insert(command.argv.end(), {"wrapper", "--option"});
  command.argv.insert(command.argv.end(), argv.begin(), argv.end());
  auto running = RunningProcess::start(command);
  ASSERT_TRUE(running);
  pid_t found = 0;
  for (int i = 0; i < 300 && found == 0; ++i) {
    ASSERT_FALSE((*running)->ended());
    found = find_wrapped((*running)->pid(), argv);
  }
  ASSERT_GT(found, 1);
  EXPECT_NE(found, (*running)->pid());
  EXPECT_EQ(process_arguments(found).back(), "80");
  EXPECT_EQ(find_wrapped((*running)->pid(), {script.string(), "--port", "81"}), 0);
  ::kill(found, SIGKILL);
  while (!(*running)->ended()) {
  }
}

TEST(Process, EndsWhenItsLimitIsPassed) {
  Command command = shell("sleep 300");
  int asked = 0;
  command.is_over_limit = [&] { return ++asked == 3; };
  const ProcessResult result = run(command);
  EXPECT_EQ(result.end, ProcessEnd::over_limit);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(describe_end(result), "its files exceeded the size limit, so it was terminated");
}

TEST(Process, WritesBothStreamsIntoOneFileInOrder) {
  const TemporaryFolder folder;
  Command command = shell("echo a; echo b >&2; echo c");
  command.stdout_file = folder.path() / "log";
  command.stderr_file = folder.path() / "log";
  EXPECT_TRUE(run(command).succeeded());
  EXPECT_EQ(testing::file_bytes(command.stdout_file), "a\nb\nc\n");
}

TEST(Process, EndsWithItsHandle) {
  pid_t pid = 0;
  Command command = shell("exec sleep 300");
  {
    auto running = RunningProcess::start(command);
    ASSERT_TRUE(running);
    pid = (*running)->pid();
    EXPECT_FALSE(is_gone(pid));
  }
  EXPECT_TRUE(is_gone(pid));
}

TEST(Process, DoesNotWaitForWhatAProgramLeavesRunning) {
  const ProcessResult result = run(shell("sleep 300 & echo $!"));
  EXPECT_TRUE(result.succeeded());
  EXPECT_LT(result.duration, 10s);
  const pid_t left = first_number(result.output_tail);
  ASSERT_GT(left, 1);
  EXPECT_FALSE(is_gone(left));
  ::kill(left, SIGKILL);
}

TEST(Process, KeepsOnlyTheEndOfMuchOutput) {
  Command command = shell("yes 0123456 | head -c 20000000; echo; echo last");
  command.output_tail_bytes = 1000;
  const ProcessResult result = run(command);
  EXPECT_EQ(result.output_bytes, 20000006U);
  EXPECT_EQ(result.output_tail.size(), 1000U);
  EXPECT_TRUE(result.output_tail.ends_with("0123456\n\nlast\n"));
}

TEST(Process, LeaksNeitherDescriptorsNorZombies) {
  run(shell("true"));
  const size_t before = open_descriptors();
  Command hanging = shell("sleep 300");
  hanging.timeout = 50ms;
  Command missing;
  missing.argv = {"/nowhere/program"};
  for (int i = 0; i < 5; ++i) {
    run(shell("echo x"));
    run(hanging);
    run(missing);
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Process, GivesAProgramOnlyItsThreeStreams) {
  const FileDescriptor careless(::open("/dev/null", O_RDONLY));
  // The fourth is the folder that ls reads.
  EXPECT_EQ(run(shell("ls /proc/self/fd")).output_tail, "0\n1\n2\n3\n");
}

TEST(Process, HandsOnTheDescriptorOfALauncher) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  ::setenv("PMI_FD", std::to_string(ends[1]).c_str(), 1);
  Command command;
  command.argv = {"/bin/sh", "-c", "echo -n init >&$PMI_FD"};
  const auto result = run_process(command);
  ::unsetenv("PMI_FD");
  ::close(ends[1]);
  std::array<char, 16> said{};
  const ssize_t length = ::read(ends[0], said.data(), said.size());
  ::close(ends[0]);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->succeeded()) << result->output_tail;
  EXPECT_EQ(std::string(said.data(), static_cast<size_t>(std::max<ssize_t>(length, 0))), "init");
}

TEST(Process, ReadsTheExitCodeWhereSigchldWasIgnored) {
  ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(run(shell("exit 7")).exit_code, 7);
  ::signal(SIGCHLD, SIG_DFL);
}

TEST(Process, UnblocksSignalsForTheProgram) {
  sigset_t blocked;
  sigset_t before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  Command command = shell("exec sleep 300");
  command.timeout = 100ms;
  command.grace = 20s;
  EXPECT_LT(run(command).duration, 10s);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Process, RunsFromSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&right, t] {
      for (int i = 0; i < 10; ++i) {
        const auto result = run_process(shell("echo " + std::to_string(t)));
        if (result && result->output_tail == std::to_string(t) + "\n") ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
}

}  // namespace
}  // namespace llmprof::capture
