#include "capture/ncu/ncu_runs.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

TEST(MeasuredLaunchesTest, CountsWhatIsFinishedAsTheLogGrows) {
  const testing::TemporaryFolder folder;
  const auto log = folder.path() / "decode.log";
  MeasuredLaunches launches;
  EXPECT_EQ(launches.count(log), 0U);
  std::ofstream file(log);
  file << "the program prints\n==PROF== Connected to process 7\n" << std::flush;
  EXPECT_EQ(launches.count(log), 0U);
  file << "==PROF== Profiling \"gemm\": 0%....50%" << std::flush;
  EXPECT_EQ(launches.count(log), 0U);
  file << "....100% - 18 passes\n==PROF== Profiling \"norm\": 0%....50%....100% - 18 passes\n"
       << std::flush;
  EXPECT_EQ(launches.count(log), 2U);
  file << std::string(200'000, 'x') << "\n==PROF== Profiling \"gemm\" - 3: 100%\n" << std::flush;
  EXPECT_EQ(launches.count(log), 3U);
  EXPECT_EQ(launches.count(log), 3U);
}

}  // namespace
}  // namespace llmprof::capture
