#include "capture/tools.h"

#include <gtest/gtest.h>

#include <fstream>

#include "capture/shell.h"
#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

using std::filesystem::path;

// An empty machine to install into. The programs are links to /bin/sh and the like, because the
// folder's file system may not allow execution.
class Tools : public ::testing::Test {
 protected:
  Tools() {
    search.root = folder.path();
    search.machine = "x86_64";
  }

  path install(std::string_view place, std::string_view program = "/bin/sh") const {
    const path file = folder.path() / place;
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_symlink(program, file);
    return file;
  }

  [[nodiscard]] std::vector<path> found(Tool tool) const {
    const auto result = find_tool(tool, search);
    EXPECT_TRUE(result) << result.error().message;
    return result.value_or(std::vector<path>{});
  }

  testing::TemporaryFolder folder;
  ToolSearch search;
};

using Paths = std::vector<path>;

TEST_F(Tools, FindsNothingOnAnEmptyMachine) {
  for (const Tool tool : {Tool::nsys, Tool::ncu, Tool::qdstrm_importer}) {
    EXPECT_EQ(found(tool), Paths{}) << tool_name(tool);
  }
}

TEST_F(Tools, TakesPathFirstThenTheNewestInstallation) {
  const path old = install("opt/nvidia/nsight-systems/2024.9.1/bin/nsys", "/bin/cat");
  const path recent = install("opt/nvidia/nsight-systems/2024.10.1/bin/nsys", "/bin/ls");
  const path on_path = install("home/bin/nsys", "/bin/sh");
  EXPECT_EQ(found(Tool::nsys), (Paths{recent, old}));
  search.path_list = "/nowhere::" + on_path.parent_path().string() + ":";
  EXPECT_EQ(found(Tool::nsys), (Paths{on_path, recent, old}));
}

TEST_F(Tools, KnowsTheUsualPlaces) {
  for (const char* place :
       {"opt/nvidia/nsight-systems-cli/2025.3.1/bin/nsys",
        "opt/nvidia/nsight-systems/2025.3.1/target-linux-x64/nsys", "usr/local/cuda-13.0/bin/nsys",
        "usr/local/cuda/nsight-systems-2023.2.3/bin/nsys", "usr/lib/nsight-systems/bin/nsys",
        "opt/nvidia/nsight-compute/2025.3.1/host/target-linux-x64/nsys"}) {
    const path file = install(place);
    EXPECT_EQ(found(Tool::nsys), Paths{file}) << place;
    std::filesystem::remove(file);
  }
  for (const char* place :
       {"opt/nvidia/nsight-compute/2025.3.1/ncu", "usr/local/cuda-13.0/bin/ncu",
        "usr/local/cuda/nsight-compute-2022.3.0/ncu", "usr/lib/nsight-compute/ncu"}) {
    const path file = install(place);
    EXPECT_EQ(found(Tool::ncu), Paths{file}) << place;
    std::filesystem::remove(file);
  }
  for (const char* place :
       {"opt/nvidia/nsight-systems/2025.3.1/host-linux-x64/QdstrmImporter",
        "opt/nvidia/nsight-compute/2025.3.1/host/linux-desktop-glibc_2_11_3-x64/QdstrmImporter",
        "usr/lib/nsight-systems/host-linux-x64/QdstrmImporter"}) {
    const path file = install(place);
    EXPECT_EQ(found(Tool::qdstrm_importer), Paths{file}) << place;
    std::filesystem::remove(file);
  }
}

TEST_F(Tools, LooksForTheImporterBesideNsys) {
  const path nsys = install("somewhere/nsight/bin/nsys");
  install("somewhere/nsight/host-linux-x64/QdstrmImporter", "/bin/cat");
  const path ncus = install("ncu/host/target-linux-x64/nsys", "/bin/ls");
  install("ncu/host/linux-desktop-glibc_2_11_3-x64/QdstrmImporter", "/bin/cp");
  search.chosen[Tool::nsys] = nsys;
  ASSERT_EQ(found(Tool::qdstrm_importer).size(), 1U);
  EXPECT_EQ(found(Tool::qdstrm_importer)[0],
            nsys.parent_path() / "../host-linux-x64/QdstrmImporter");
  search.chosen[Tool::nsys] = ncus;
  ASSERT_EQ(found(Tool::qdstrm_importer).size(), 1U);
  EXPECT_EQ(found(Tool::qdstrm_importer)[0],
            ncus.parent_path() / "../linux-desktop-glibc_2_11_3-x64/QdstrmImporter");
}

TEST_F(Tools, LeavesOutWhatIsForAnotherMachine) {
  install("opt/nvidia/nsight-systems/2025.3.1/target-linux-sbsa-armv8/nsys", "/bin/cat");
  install("opt/nvidia/nsight-systems/2025.3.1/host-linux-armv8/QdstrmImporter", "/bin/cat");
  install("opt/nvidia/nsight-compute/2025.3.1/host/linux-desktop-t210-a64/QdstrmImporter",
          "/bin/ls");
  EXPECT_EQ(found(Tool::nsys), Paths{});
  EXPECT_EQ(found(Tool::qdstrm_importer), Paths{});
  search.machine = "aarch64";
  EXPECT_EQ(found(Tool::nsys).size(), 1U);
  EXPECT_EQ(found(Tool::qdstrm_importer).size(), 2U);
}

TEST_F(Tools, CountsAProgramReachedByTwoLinksOnce) {
  const path file = install("usr/local/cuda-13.0/bin/nsys");
  std::filesystem::create_directory_symlink("cuda-13.0", folder.path() / "usr/local/cuda");
  EXPECT_EQ(found(Tool::nsys).size(), 1U);
}

TEST_F(Tools, SkipsWhatCannotBeExecuted) {
  const path file = folder.path() / "usr/local/cuda/bin/nsys";
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << "no program";
  std::filesystem::create_directories(folder.path() / "usr/local/cuda/bin/ncu");
  EXPECT_EQ(found(Tool::nsys), Paths{});
  EXPECT_EQ(found(Tool::ncu), Paths{});
}

TEST_F(Tools, VariableWinsAndAWrongOneIsAnError) {
  install("usr/local/cuda/bin/ncu");
  const path mine = install("mine/my-ncu");
  search.chosen[Tool::ncu] = mine;
  EXPECT_EQ(found(Tool::ncu), Paths{mine});
  search.chosen[Tool::ncu] = "/nowhere/ncu";
  const auto result = find_tool(Tool::ncu, search);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::usage);
  EXPECT_EQ(result.error().message,
            "LLMPROF_NCU names '/nowhere/ncu', which is not an executable file; correct or unset "
            "it");
}

TEST(ToolSearchHere, ReadsTheVariables) {
  ::setenv("LLMPROF_QDSTRM_IMPORTER", "/my/importer", 1);
  ::setenv("LLMPROF_NCU", "", 1);
  const ToolSearch search = tool_search_here();
  ::unsetenv("LLMPROF_QDSTRM_IMPORTER");
  ::unsetenv("LLMPROF_NCU");
  EXPECT_EQ(search.chosen.at(Tool::qdstrm_importer), path("/my/importer"));
  EXPECT_FALSE(search.chosen.contains(Tool::ncu));
  EXPECT_FALSE(search.machine.empty());
  EXPECT_FALSE(search.path_list.empty());
}

TEST(FindExecutable, TakesANameWithASlashAsItIs) {
  EXPECT_EQ(find_executable("/bin/sh", ""), path("/bin/sh"));
  EXPECT_EQ(find_executable("/bin", "/bin"), std::nullopt);
  EXPECT_EQ(find_executable("", "/bin"), std::nullopt);
  EXPECT_EQ(find_executable("sh", "/nowhere:/bin"), path("/bin/sh"));
}

}  // namespace
}  // namespace llmprof::capture
