// The real ncu, if it is installed.
#include <gtest/gtest.h>

#include "base/text.h"
#include "capture/ncu/ncu_capture.h"
#include "capture/ncu/ncu_runs.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

using testing::TemporaryFolder;

std::optional<InstalledTool> installed_ncu() {
  const auto ncu = ensure_tool(Tool::ncu, tool_search_here());
  return ncu ? std::optional(*ncu) : std::nullopt;
}

// /bin/true launches no kernel: without a driver ncu reports that, with one it reports that it
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

// The names in a report of two launches of one kernel, as a run with it would print them.
std::vector<std::string> exported_names(const InstalledTool& ncu, const ChosenKernel& kernel) {
  NcuRun run;
  run.kernels = {kernel};
  Command command;
  command.argv = build_ncu_import_cmd(ncu, ncu_features(ncu), run,
                                      testing::test_data("reports/scale.ncu-rep"));
  command.output_tail_bytes = 1UL << 20U;
  const auto ended = run_process(command);
  if (!ended) return {};
  const auto table = parse_raw_table(ended->output_tail);
  if (!table || table->launches.size() != 2) return {};
  return table->kernel_names();
}

TEST(NcuInstalled, ExportsAReport) {
  const auto ncu = installed_ncu();
  if (!ncu) GTEST_SKIP() << "needs ncu, which is not installed";
  ChosenKernel kernel;
  kernel.name = "scale(float*, float)";
  EXPECT_EQ(exported_names(*ncu, kernel), std::vector<std::string>{"scale(float *, float)"});
  kernel.symbol = "_Z5scalePff";
  EXPECT_EQ(exported_names(*ncu, kernel), std::vector<std::string>{"_Z5scalePff"});
}

}  // namespace
}  // namespace llmprof::capture
