#include "capture/recording.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

using namespace std::chrono_literals;
using std::filesystem::path;
using testing::file_bytes;
using testing::TemporaryFolder;

Command shell(std::string script) {
  Command command;
  command.argv = {"/bin/sh", "-c", std::move(script)};
  command.grace = 300ms;
  return command;
}

nlohmann::json status_of(const path& folder) {
  return nlohmann::json::parse(file_bytes(folder / "status.json"));
}

TEST(RecordedCommand, SaysHowBusyTheCpusWere) {
  const TemporaryFolder folder;
  const auto record =
      run_recorded(folder.path(), "record",
                   shell("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; sleep 0.2"));
  ASSERT_TRUE(record && record->load);
  EXPECT_GE(record->load->cpus, 1);
  EXPECT_GT(record->load->used, 0.05);
  const nlohmann::json load = status_of(folder.path())[0]["load"];
  EXPECT_NEAR(load["used"].get<double>(), record->load->used, 0.01);
  EXPECT_GE(load["others"].get<double>(), 0);
  // Too short for the clock's ticks.
  const auto brief = run_recorded(folder.path(), "brief", shell("true"));
  ASSERT_TRUE(brief);
  if (brief->result.duration < std::chrono::milliseconds(150)) {
    EXPECT_TRUE(status_of(folder.path())[1]["load"].is_null());
  }
}

TEST(RecordedCommand, LeavesItsCommandItsLogAndItsStatus) {
  const TemporaryFolder folder;
  Command command = shell("echo out; echo err >&2; exit 3");
  command.environment = {{"LLMPROF_TEST_GIVEN", "a b"}};
  const auto record = run_recorded(folder.path() / "nsys", "profile", command);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->name, "profile");
  EXPECT_EQ(record->result.exit_code, 3);
  EXPECT_EQ(record->result.output_tail, "out\nerr\n");
  EXPECT_FALSE(record->trouble);
  EXPECT_EQ(file_bytes(folder.path() / "nsys/profile.log"), "out\nerr\n");
  EXPECT_EQ(file_bytes(folder.path() / "nsys/cmd.txt"),
            "# profile\nLLMPROF_TEST_GIVEN='a b' /bin/sh -c 'echo out; echo err >&2; exit 3'\n");
  const nlohmann::json status = status_of(folder.path() / "nsys");
  ASSERT_EQ(status.size(), 1U);
  EXPECT_EQ(status[0]["name"], "profile");
  EXPECT_EQ(status[0]["end"], "exited");
  EXPECT_EQ(status[0]["exit_code"], 3);
  EXPECT_TRUE(status[0]["signal"].is_null());
  EXPECT_EQ(status[0]["log"], "profile.log");
  EXPECT_GT(status[0]["seconds"], 0.0);
  EXPECT_EQ(status[0]["argv"], nlohmann::json(command.argv));
}

TEST(RecordedCommand, KeepsEarlierRowsAndLogs) {
  const TemporaryFolder folder;
  ASSERT_TRUE(run_recorded(folder.path(), "profile", shell("echo first; kill -KILL $$")));
  Command hanging = shell("echo second; sleep 300");
  hanging.timeout = 300ms;
  const auto second = run_recorded(folder.path(), "profile", hanging);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->name, "profile-2");
  Command missing;
  missing.argv = {"/nowhere/tool"};
  ASSERT_TRUE(run_recorded(folder.path(), "export", missing));
  const nlohmann::json status = status_of(folder.path());
  ASSERT_EQ(status.size(), 3U);
  EXPECT_EQ(status[0]["end"], "signalled");
  EXPECT_EQ(status[0]["signal"], 9);
  EXPECT_EQ(status[1]["name"], "profile-2");
  EXPECT_EQ(status[1]["end"], "timed_out");
  EXPECT_EQ(status[2]["end"], "not_started");
  EXPECT_EQ(status[2]["said"], "No such file or directory");
  EXPECT_EQ(file_bytes(folder.path() / "profile.log"), "first\n");
  EXPECT_EQ(file_bytes(folder.path() / "profile-2.log"), "second\n");
}

TEST(RecordedCommand, WritesJsonWhateverTheWords) {
  const TemporaryFolder folder;
  Command command;
  command.argv = {"true", "quote\" back\\slash", "line\nbreak\x01", "no utf8 \xFF", "\xC3\xA9"};
  ASSERT_TRUE(run_recorded(folder.path(), "x", command));
  const nlohmann::json argv = status_of(folder.path())[0]["argv"];
  EXPECT_EQ(argv[1], command.argv[1]);
  EXPECT_EQ(argv[2], command.argv[2]);
  EXPECT_EQ(argv[3], "no utf8 \xEF\xBF\xBD");
  EXPECT_EQ(argv[4], command.argv[4]);
}

TEST(RecordedCommand, HasItsLogWhileItRuns) {
  const TemporaryFolder folder;
  auto running = RecordedCommand::start(folder.path(), "x", shell("echo begun; exec sleep 300"));
  ASSERT_TRUE(running);
  std::string log;
  for (int i = 0; i < 500 && log.empty(); ++i) {
    ASSERT_FALSE(running->ended());
    log = file_bytes(running->log());
  }
  EXPECT_EQ(log, "begun\n");
  EXPECT_TRUE(contains(file_bytes(folder.path() / "cmd.txt"), "exec sleep 300"));
  running->end();
  EXPECT_EQ(running->finish().result.end, ProcessEnd::stopped);
  EXPECT_EQ(status_of(folder.path())[0]["end"], "interrupted");
}

TEST(RecordedCommand, LeavesOutputToTheFileItWasGiven) {
  const TemporaryFolder folder;
  Command command = shell("echo data; echo words >&2");
  command.stdout_file = folder.path() / "raw.csv";
  ASSERT_TRUE(run_recorded(folder.path(), "raw", command));
  EXPECT_EQ(file_bytes(folder.path() / "raw.csv"), "data\n");
  EXPECT_EQ(file_bytes(folder.path() / "raw.log"), "words\n");
}

TEST(RecordedCommand, SaysThatItsFolderCannotBeWritten) {
  const TemporaryFolder folder;
  const path file = folder.write("file", "");
  const auto record = run_recorded(file / "nsys", "profile", shell("true"));
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().kind, ErrorKind::tool);
  EXPECT_TRUE(contains(record.error().message, file.string())) << record.error().message;
}

}  // namespace
}  // namespace llmprof::capture
