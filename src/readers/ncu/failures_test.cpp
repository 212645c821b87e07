#include <gtest/gtest.h>

#include "base/text.h"
#include "testing/readers/read_ncu.h"

namespace llmprof::readers {
namespace {

void expect_words(const std::string& message, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) EXPECT_TRUE(contains(message, word)) << message;
}

TEST(NcuFailures, NamesBothFixesForMissingPermission) {
  expect_words(
      refusal_of("==PROF== Connected to process 7 (/usr/bin/prog)\n"
                 "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n"
                 "==WARNING== No kernels were profiled.\n"),
      {"ncu.csv", "ERR_NVGPUCTRPERM", "as root", "--cap-add SYS_ADMIN",
       "options nvidia NVreg_RestrictProfilingToAdminUsers=0", "/etc/modprobe.d", "reboot"});
}

TEST(NcuFailures, NamesTheFiltersWhenNothingWasProfiled) {
  expect_words(refusal_of("==PROF== Connected to process 7 (/usr/bin/prog)\nhello\n"
                          "==WARNING== No kernels were profiled.\n"),
               {"profiled no kernel", "Domain@Range/", "--kernel-name", "--launch-skip"});
}

TEST(NcuFailures, NamesTheToolThatHoldsTheCounters) {
  expect_words(refusal_of("==ERROR== Profiling failed because a driver resource was unavailable.\n"
                          "==WARNING== No kernels were profiled.\n"),
               {"dcgmi profile --pause"});
}

TEST(NcuFailures, NamesTheListOfSections) {
  expect_words(refusal_of("==ERROR== No such section: SpeedOfLihgt\n"),
               {"--list-sections", "SpeedOfLihgt"});
}

TEST(NcuFailures, RepeatsOtherErrors) {
  expect_words(refusal_of("==ERROR== Unknown Error on device 0.\n"
                          "==WARNING== No kernels were profiled.\n"),
               {"Unknown Error on device 0."});
}

TEST(NcuFailures, SaysHowToExportATextPage) {
  expect_words(refusal_of("  kernel (16, 1, 1)x(128, 1, 1), Context 1, Stream 7, Device 0, CC 9.0\n"
                          "    Section: GPU Speed Of Light Throughput\n"
                          "    --------------- ----------- ------------\n"
                          "    Metric Name     Metric Unit Metric Value\n"
                          "    --------------- ----------- ------------\n"
                          "    Duration                 us         2.88\n"),
               {"text output", "ncu --import REPORT.ncu-rep --page raw --csv > raw.csv",
                "--csv --page raw"});
}

TEST(NcuFailures, RefusesATableWithoutRows) {
  const std::string header = "\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n";
  expect_words(refusal_of(header), {"without any row"});
  expect_words(refusal_of(header + "\"\",\"\",\"\",\"ns\"\n"), {"without any row"});
  expect_words(refusal_of(header + "\"0\",\"1\",\"k\n"),
               {"without a single complete row", "1 damaged"});
}

TEST(NcuFailures, RefusesOutputWithoutATable) {
  expect_words(refusal_of("==PROF== Connected to process 7\n==PROF== Disconnected\n"),
               {"without a table", "--csv --page raw"});
}

TEST(NcuFailures, ErrorsBesideRowsAreADiagnostic) {
  const trace::Trace trace = read_ncu_text(
      "==ERROR== Failed to profile \"k2\" in process 7\n"
      "\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n"
      "\"\",\"\",\"\",\"ns\"\n\"0\",\"1\",\"k\",\"12\"\n");
  EXPECT_EQ(total_duration(trace), 12);
  EXPECT_EQ(diagnostic_count(trace, "ncu_reported_errors"), 1U);
}

TEST(NcuFailures, AMissingFileIsNamed) {
  trace::TraceBuilder builder;
  const auto done = kNcuCsvReader.read("no/such/ncu.csv", builder);
  ASSERT_FALSE(done);
  EXPECT_TRUE(contains(done.error().message, "no/such/ncu.csv")) << done.error().message;
}

}  // namespace
}  // namespace llmprof::readers
