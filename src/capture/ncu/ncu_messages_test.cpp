#include "capture/ncu/ncu_runs.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

NcuRunMessages said(std::string_view text) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.path() / "ncu.log") << text;
  return read_ncu_messages(folder.path() / "ncu.log");
}

// Each as ncu 2022.3 or 2025.3 printed it.
TEST(NcuRunMessages, KnowsWhatNcuSays) {
  const NcuRunMessages no_driver = said(
      "==ERROR== Nsight Compute failed to connect to the CUDA driver (stub libcuda.so[.1] on "
      "path?).\n==ERROR== The application returned an error code (1).\n==WARNING== No kernels were "
      "profiled.\n");
  EXPECT_TRUE(no_driver.no_driver);
  EXPECT_TRUE(no_driver.nothing_profiled);
  EXPECT_EQ(no_driver.program_exit_code, 1);

  const NcuRunMessages section = said(
      "==ERROR== Option '--section NoSuch' did not match any section.\n==ERROR== Use "
      "--list-sections to see the list of available sections.\n");
  EXPECT_EQ(section.unknown_sections, std::vector<std::string>{"NoSuch"});

  const NcuRunMessages good = said(
      "==PROF== Connected to process 1294 (/tmp/t)\n==PROF== Profiling \"foo\" - 0 (1/2): "
      "0%....50%....100% - 10 passes\n==PROF== Profiling \"bar(float *)\" - 1 (2/2): "
      "0%....50%....100% - 10 passes\n==PROF== Report: /tmp/ok.ncu-rep\n");
  EXPECT_EQ(good.launches, 2U);
  EXPECT_TRUE(good.first_error.empty());
  EXPECT_FALSE(good.nothing_profiled || good.program_exit_code);

  EXPECT_EQ(
      said("the argument for option '--clock-control' is invalid\n\nUse --help\n").first_error,
      "the argument for option '--clock-control' is invalid");
  EXPECT_TRUE(
      said("==ERROR== Profiling failed because a driver resource was unavailable.").driver_in_use);
}

TEST(NcuRunMessages, AreNotTheProgramsOwnWords) {
  const NcuRunMessages messages =
      said("ERR_NVGPUCTRPERM is what I print\nNo kernels were profiled\n error code (3)\n");
  EXPECT_FALSE(messages.no_permission || messages.nothing_profiled || messages.program_exit_code);
}

TEST(NcuRunMessages, AreFoundInEndlessOutput) {
  const testing::TemporaryFolder folder;
  const auto log = folder.write("a.log", std::string(3'000'000, 'x') +
                                             "\n==WARNING== No kernels were profiled.\n" +
                                             std::string(1'000'000, '\n') + "==ERROR== last");
  const NcuRunMessages messages = read_ncu_messages(log);
  EXPECT_TRUE(messages.nothing_profiled);
  EXPECT_EQ(messages.first_error, "last");
  EXPECT_EQ(read_ncu_messages(folder.path() / "none.log").launches, 0U);
}

TEST(SharedCapturesNcuRunMessages, KnowsARealRefusal) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  EXPECT_TRUE(read_ncu_messages(captures / "public" /
                                "Mlightsnow+DD2360-llm.c__fp32_ncu_ERR_NVGPUCTRPERM.txt")
                  .no_permission);
}

}  // namespace
}  // namespace llmprof::capture
