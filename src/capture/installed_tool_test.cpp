#include "capture/tools.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

using std::filesystem::path;
using testing::TemporaryFolder;

// A machine with nothing installed but what a test puts there.
class Ensure : public ::testing::Test {
 protected:
  Ensure() { search.root = machine.path(); }

  path install(std::string_view place, std::string_view script) {
    std::filesystem::create_directories((machine.path() / place).parent_path());
    path file = machine.write(place, "#!/bin/sh\n" + std::string(script));
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }

  TemporaryFolder machine;
  ToolSearch search;
};

constexpr const char* kOldNsys = "opt/nvidia/nsight-systems/2022.4.2/bin/nsys";
constexpr const char* kNewNsys = "opt/nvidia/nsight-systems/2025.3.1/bin/nsys";

TEST_F(Ensure, ReturnsPathAndVersion) {
  const path nsys =
      install(kNewNsys, "echo 'NVIDIA Nsight Systems version 2025.3.1.90-253135822126v0'");
  const auto found = ensure_tool(Tool::nsys, search);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->path, nsys);
  EXPECT_EQ(found->version, "2025.3.1.90");

  install("opt/nvidia/nsight-compute/2022.3.0/ncu",
          "echo 'NVIDIA (R) Nsight Compute Command Line Profiler'\n"
          "echo 'Copyright (c) 2018-2022 NVIDIA Corporation'\n"
          "echo 'Version 2022.3.0.0 (build 31729285) (public-release)'");
  const auto ncu = ensure_tool(Tool::ncu, search);
  ASSERT_TRUE(ncu) << ncu.error().message;
  EXPECT_EQ(ncu->version, "2022.3.0.0");
}

TEST_F(Ensure, SaysHowToInstallWhatIsMissing) {
  const auto nsys = ensure_tool(Tool::nsys, search);
  ASSERT_FALSE(nsys);
  EXPECT_EQ(nsys.error().kind, ErrorKind::tool);
  EXPECT_TRUE(nsys.error().message.starts_with("nsys was found neither on PATH nor"));
  EXPECT_TRUE(contains(nsys.error().message, "set LLMPROF_NSYS to its path"));
  EXPECT_TRUE(contains(nsys.error().message, "nsight-systems-cli")) << nsys.error().message;
  const auto ncu = ensure_tool(Tool::ncu, search);
  ASSERT_FALSE(ncu);
  EXPECT_TRUE(contains(ncu.error().message, "LLMPROF_NCU"));
  EXPECT_TRUE(contains(ncu.error().message, "nsight-compute")) << ncu.error().message;
}

TEST_F(Ensure, PassesByAnInstallationThatDoesNotWork) {
  const path broken = install(
      kNewNsys, "echo 'nsys: error while loading shared libraries: libdw.so.1' >&2; exit 127");
  auto found = ensure_tool(Tool::nsys, search);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::tool);
  EXPECT_TRUE(contains(found.error().message, broken.string() + " does not work"));
  EXPECT_TRUE(
      contains(found.error().message, "exit code 127 and printed \"nsys: error while loading"))
      << found.error().message;

  const path works = install(kOldNsys, "echo 'NVIDIA Nsight Systems version 2022.4.2.1-df9881f'");
  found = ensure_tool(Tool::nsys, search);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->path, works);
}

TEST_F(Ensure, AWrongVariableIsAUsageError) {
  search.chosen[Tool::ncu] = "/nowhere/ncu";
  const auto found = ensure_tool(Tool::ncu, search);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::usage);
}

TEST(ToolVersion, IsEmptyWhereNoneIsStated) {
  EXPECT_EQ(tool_version("hello"), "");
  EXPECT_EQ(tool_version("version unknown"), "");
}

TEST(IsAtLeast, ComparesNumbersNotText) {
  EXPECT_TRUE(is_at_least("2022.4.2.1", 2022, 4));
  EXPECT_FALSE(is_at_least("2022.4.2.1", 2022, 5));
  EXPECT_TRUE(is_at_least("2022.10.1", 2022, 9));
  EXPECT_TRUE(is_at_least("2025.1.1", 2022, 4));
  EXPECT_FALSE(is_at_least("2021.5.1", 2022, 1));
  EXPECT_TRUE(is_at_least("", 2022, 1));
}

}  // namespace
}  // namespace llmprof::capture
