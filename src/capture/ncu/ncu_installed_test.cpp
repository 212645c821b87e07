// The real ncu, where it is installed.
#include <gtest/gtest.h>

#include "base/text.h"
#include "capture/ncu/ncu_capture.h"
#include "capture/ncu/ncu_runs.h"
#include "capture/ncu/raw_tables.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof {
namespace {

using testing::TemporaryFolder;

std::optional<InstalledTool> installed_ncu() {
  const auto ncu = ensure_ncu(tool_search_here());
  return ncu ? std::optional(*ncu) : std::nullopt;
}

// /bin/true launches no kernel: on a machine without a driver ncu says so, with one it says that it
// profiled nothing.
TEST(NcuInstalled, AProgramWithoutKernelsIsAFailureWithItsReason) {
  const auto ncu = installed_ncu();
  if (!ncu) GTEST_SKIP() << "needs ncu, which is not installed";
  const TemporaryFolder folder;
  NcuRequest request;
  request.bundle = folder.path();
  request.workload.argv = {"/bin/true"};
  request.options.sections = {"SpeedOfLight", "NoSuchSection"};
  const CaptureResult result = capture_with_ncu(*ncu, request);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->kind, ErrorKind::tool);
  const std::string& message = result.failure->message;
  EXPECT_TRUE(contains(message, "no CUDA driver") || contains(message, "profiled no kernel"))
      << message;
  EXPECT_TRUE(result.notes.has("ncu_no_such_section"));
  EXPECT_TRUE(contains(testing::file_bytes(folder.path() / "ncu" / "sections.txt"), "Occupancy"));
}

TEST(NcuInstalled, ExportsAReport) {
  const auto ncu = installed_ncu();
  if (!ncu) GTEST_SKIP() << "needs ncu, which is not installed";
  Command command;
  command.argv =
      build_ncu_import_cmd(*ncu, ncu_features(*ncu), testing::test_data("reports/scale.ncu-rep"));
  command.output_tail_bytes = 1UL << 20U;
  const auto ended = run_process(command);
  ASSERT_TRUE(ended);
  const auto table = parse_raw_table(ended->output_tail);
  ASSERT_TRUE(table) << ended->output_tail;
  EXPECT_EQ(table->launches.size(), 2U);
  EXPECT_EQ(table->kernel_names(), std::vector<std::string>{"scale(float *, float)"});
}

}  // namespace
}  // namespace llmprof
