#include "session/bundle/inputs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/needed.h"
#include "testing/temporary_folder.h"

namespace llmprof::session {
namespace {

namespace fs = std::filesystem;

class InputsTest : public ::testing::Test {
 protected:
  fs::path write(const fs::path& name) {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "x";
    return path;
  }
  std::vector<std::string> found(const fs::path& path) {
    const std::vector<fs::path> paths = {path};
    const auto inputs = attempt([&] { return expand_inputs(paths, notes_); });
    std::vector<std::string> names;
    if (!inputs) return {inputs.error().message};
    for (const Input& input : *inputs) {
      names.push_back(fs::relative(input.path, folder_.path()).string());
    }
    return names;
  }
  std::string note(std::string_view code) {
    std::string text;
    for (const Diagnostic& item : notes_.items()) {
      if (item.code == code) text += item.message + "\n";
    }
    return text;
  }

  testing::TemporaryFolder folder_;
  Diagnostics notes_;
};

TEST_F(InputsTest, ARunFolderStandsForTheRequestsOfItsLoads) {
  write("run/profile.json");
  write("run/collector/1.llmtrace");
  write("run/collector/record-load/requests.json");
  write("run/collector/record-load/profile.json");
  write("run/stage1/control-load/requests.json");
  const std::vector<fs::path> paths = {folder_.path() / "run"};
  const auto inputs = attempt([&] { return expand_inputs(paths, notes_); });
  ASSERT_TRUE(inputs);
  ASSERT_EQ(inputs->size(), 3U);
  EXPECT_EQ((*inputs)[1].path, paths[0] / "collector/record-load/requests.json");
  EXPECT_EQ((*inputs)[1].role, RunRole::other);
  EXPECT_EQ((*inputs)[2].path, paths[0] / "stage1/control-load/requests.json");
  EXPECT_EQ((*inputs)[2].role, RunRole::control);
}

TEST_F(InputsTest, ARunFolderStandsForItsMemorySnapshots) {
  write("run/profile.json");
  write("run/torch/trace.json.gz");
  write("run/torch/memory.pickle");
  write("run/torch/memory-oom.pickle");
  const std::vector<fs::path> paths = {folder_.path() / "run"};
  const auto inputs = attempt([&] { return expand_inputs(paths, notes_); });
  ASSERT_TRUE(inputs);
  ASSERT_EQ(inputs->size(), 3U);
  EXPECT_EQ((*inputs)[1].path, paths[0] / "torch/memory.pickle");
  EXPECT_EQ((*inputs)[1].role, RunRole::other);
  EXPECT_EQ((*inputs)[2].path, paths[0] / "torch/memory-oom.pickle");
}

TEST_F(InputsTest, NamesFoldersThatAreTooDeep) {
  write("a/b/c/found.csv");
  write("a/b/c/d/hidden.csv");
  EXPECT_EQ(found(folder_.path()), std::vector<std::string>{"a/b/c/found.csv"});
  EXPECT_NE(note("folders_too_deep").find("a/b/c/d"), std::string::npos);
}

TEST_F(InputsTest, NamesFilesThatAreLeftAside) {
  write("run.sqlite");
  write("run.nsys-rep");
  write("notes.md");
  ASSERT_EQ(mkfifo((folder_.path() / "pipe").c_str(), S_IRUSR | S_IWUSR), 0);
  EXPECT_EQ(found(folder_.path()), std::vector<std::string>{"run.sqlite"});
  const std::string aside = note("files_left_aside");
  EXPECT_NE(aside.find("notes.md"), std::string::npos);
  EXPECT_NE(aside.find("run.nsys-rep"), std::string::npos);
  EXPECT_NE(aside.find("pipe"), std::string::npos);
}

TEST_F(InputsTest, RefuseAPipe) {
  const fs::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), S_IRUSR | S_IWUSR), 0);
  const std::vector<std::string> said = found(pipe);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("is a pipe, not a file"), std::string::npos);
}

}  // namespace
}  // namespace llmprof::session
