// Conversions by the real tools, if they are installed.
#include <gtest/gtest.h>

#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "capture/convert.h"

#include "capture/process.h"
#include "capture/shell.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

using namespace std::string_view_literals;
using std::filesystem::path;
using testing::TemporaryFolder;

std::optional<path> installed(Tool tool) {
  const auto found = find_tool(tool, tool_search_here());
  if (!found || found->empty()) return std::nullopt;
  return found->front();
}

// The report of a program that runs no kernel, of whatever kind this nsys writes; an error if it
// cannot profile (in a sandbox, for example).
Result<path> profile_something(const path& nsys, const TemporaryFolder& folder) {
  Command command;
  command.argv = {nsys.string(),
                  "profile",
                  "--trace=nvtx,osrt",
                  "--sample=none",
                  "--cpuctxsw=none",
                  "-o",
                  (folder.path() / "run").string(),
                  "/bin/true"};
  command.environment = {{"HOME", folder.path().string()}};
  command.timeout = std::chrono::minutes(2);
  const auto ended = run_process(command);
  if (!ended) return fail_with(ended.error());
  for (const char* name : {"run.nsys-rep", "run.qdrep", "run.qdstrm"}) {
    if (std::filesystem::exists(folder.path() / name)) return folder.path() / name;
  }
  return fail(ErrorKind::tool, nsys.string() + " profile: " + describe_end(*ended) + ": " +
                                   last_words(ended->output_tail));
}

TEST(ConvertInstalled, NsysProfilesAndItsReportBecomesSqlite) {
  const auto nsys = installed(Tool::nsys);
  if (!nsys) GTEST_SKIP() << "needs nsys, which is not installed";
  const TemporaryFolder folder;
  const auto report = profile_something(*nsys, folder);
  if (!report) GTEST_SKIP() << "nsys cannot profile here: " << report.error().message;
  const auto head = read_head(*report, 64);
  ASSERT_TRUE(head);
  // By content alone.
  const auto kind = report_kind("run", *head);
  ASSERT_TRUE(kind);
  if (*kind == ReportKind::nsys_stream && !installed(Tool::qdstrm_importer)) {
    GTEST_SKIP() << "needs QdstrmImporter, which is not installed";
  }
  const std::string before = testing::file_bytes(*report);
  const TemporaryFolder output;
  const auto made = convert_report(*report, *kind, output.path());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(*made, output.path() / "run.sqlite");
  const std::string bytes = testing::file_bytes(*made);
  EXPECT_TRUE(bytes.starts_with("SQLite format 3\0"sv));
  // SQLite keeps the text of its schema.
  EXPECT_TRUE(contains(bytes, "CREATE TABLE StringIds"));
  EXPECT_TRUE(testing::file_bytes(*report) == before) << "the report was changed";
}

TEST(ConvertInstalled, ADamagedNsysReportIsAToolError) {
  if (!installed(Tool::nsys)) GTEST_SKIP() << "needs nsys, which is not installed";
  const TemporaryFolder folder;
  const path report = folder.write("run.nsys-rep", "NVIDIA Tegra Profiler Report 1.\n");
  const TemporaryFolder output;
  const auto made = convert_report(report, ReportKind::nsys_report, output.path());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::tool) << made.error().message;
  EXPECT_TRUE(contains(made.error().message, "it printed \"")) << made.error().message;
  EXPECT_TRUE(std::filesystem::is_empty(output.path()));
}

// The report: ncu 2025.3.1 on an H200, a kernel of two launches, --metrics
// gpu__time_duration.sum,sm__cycles_active.avg. The raw page of that ncu shows 2.752 and 2.208 us;
// ncu 2022.3 on another machine agrees.
TEST(ConvertInstalled, NcuReportBecomesCsv) {
  const path report = testing::test_data("reports/scale.ncu-rep");
  const auto head = read_head(report, 64);
  ASSERT_TRUE(head) << head.error().message;
  ASSERT_EQ(report_kind("scale", *head), ReportKind::ncu_report);
  if (!installed(Tool::ncu)) GTEST_SKIP() << "needs ncu, which is not installed";
  const TemporaryFolder output;
  const auto made = convert_report(report, ReportKind::ncu_report, output.path());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(*made, output.path() / "scale_raw.csv");
  const std::string csv = testing::file_bytes(*made);
  EXPECT_TRUE(contains(csv, "\"scale(float *, float)\""));
  EXPECT_TRUE(contains(csv, "\"gpu__time_duration.sum\""));
  EXPECT_TRUE(contains(csv, "\"2.752"));
  EXPECT_TRUE(contains(csv, "\"2.208"));
}

}  // namespace
}  // namespace llmprof::capture
