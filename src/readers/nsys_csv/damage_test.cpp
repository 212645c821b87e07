// Cut, flipped and oversized files: an error or a partial result with a diagnostic, nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>

#include "readers/nsys_csv/rows.h"
#include "readers/shared/reader.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::readers {
namespace {

using testing::TemporaryFolder;

constexpr std::string_view kTraceHeader =
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Ctx,Strm,Name\n";

std::string trace_row(int64_t number) {
  return std::to_string(number * 100) + ",50," + std::to_string(number) +
         ",1,1,1,32,1,1,NVIDIA H200 (0),1,7,\"void kernel_" + std::to_string(number % 7) +
         "<float, 4>(float *)\"\n";
}

size_t rows_of(const trace::Trace& trace) {
  return trace.kernels.size() + trace.memory_operations.size() + trace.launches.size() +
         trace.ranges.size() + trace.kernel_summaries.size() + trace.call_summaries.size();
}

// Reads the text as a file; returns whether it was readable, and checks that success has rows.
bool survives(const TemporaryFolder& folder, std::string_view text) {
  trace::TraceBuilder builder;
  const auto done = kNsysCsvReader.read(folder.write("report.csv", text), builder);
  if (!done) {
    EXPECT_EQ(done.error().kind, ErrorKind::input);
    EXPECT_FALSE(done.error().message.empty());
    return false;
  }
  EXPECT_GT(rows_of(std::move(builder).freeze()), 0U);
  return true;
}

TEST(NsysCsvDamage, ALastRowCutShortIsCountedAndTheRestKept) {
  std::string text(kTraceHeader);
  for (int64_t i = 1; i <= 3; ++i) text += trace_row(i);
  const TemporaryFolder folder;
  trace::TraceBuilder builder;
  ASSERT_TRUE(
      kNsysCsvReader.read(folder.write("cut.csv", text.substr(0, text.size() - 10)), builder));
  const trace::Trace trace = std::move(builder).freeze();
  EXPECT_EQ(trace.kernels.size(), 2U);
  ASSERT_TRUE(trace.diagnostics.has("nsys_csv_bad_rows"));
  EXPECT_TRUE(trace.diagnostics.has("nsys_csv_no_last_newline"));
}

TEST(NsysCsvDamage, AStrayQuoteCostsOneRow) {
  std::string text(kTraceHeader);
  for (int64_t i = 1; i <= 50; ++i) {
    text += i == 20 ? "2000,50,20,1,1,1,32,1,1,NVIDIA H200 (0),1,7,\"void kernel\n" : trace_row(i);
  }
  const TemporaryFolder folder;
  trace::TraceBuilder builder;
  ASSERT_TRUE(kNsysCsvReader.read(folder.write("quote.csv", text), builder));
  const trace::Trace trace = std::move(builder).freeze();
  EXPECT_EQ(trace.kernels.size(), 49U);
  EXPECT_EQ(trace.diagnostics.items()[0].code, "nsys_csv_bad_rows");
  EXPECT_EQ(trace.diagnostics.items()[0].count, 1U);
}

TEST(NsysCsvDamage, ManyWindowsGiveWhatOneDoes) {
  // About 13 MB: several windows, a second report after the first, and a header in between.
  constexpr int64_t kRows = 130000;
  std::string text(kTraceHeader);
  Nanoseconds starts = 0;
  for (int64_t i = 1; i <= kRows; ++i) {
    text += trace_row(i);
    starts += i * 100;
  }
  text += "\nTime (%),Total Time (ns),Instances,Name\n100.0,7,2,k\n";
  const TemporaryFolder folder;
  trace::TraceBuilder builder;
  ASSERT_TRUE(kNsysCsvReader.read(folder.write("long.csv", text), builder));
  const trace::Trace trace = std::move(builder).freeze();
  ASSERT_EQ(trace.kernels.size(), static_cast<size_t>(kRows));
  Nanoseconds sum = 0;
  for (const Nanoseconds start : trace.kernels.start) sum += start;
  EXPECT_EQ(sum, starts);
  EXPECT_EQ(trace.kernel_summaries.size(), 1U);
  EXPECT_EQ(trace.shapes.size(), 1U);
  EXPECT_TRUE(trace.diagnostics.items().empty());
}

TEST(NsysCsvDamage, ManySmallTablesAcrossWindows) {
  // Here, the state at a window's start is often guessed wrong.
  std::string text;
  constexpr int kTables = 60000;
  for (int i = 0; i < kTables; ++i) {
    text += "Processing [run" + std::to_string(i) +
            ".sqlite] with [/opt/reports/cuda_gpu_kern_sum.py]... \n"
            "Time (%),Total Time (ns),Instances,Name\n100.0,7,2,\"k<1, 2>\"\n\n";
  }
  const TemporaryFolder folder;
  trace::TraceBuilder builder;
  ASSERT_TRUE(kNsysCsvReader.read(folder.write("tables.csv", text), builder));
  const trace::Trace trace = std::move(builder).freeze();
  EXPECT_EQ(trace.kernel_summaries.size(), static_cast<size_t>(kTables));
  EXPECT_EQ(trace.captures.size(), static_cast<size_t>(kTables));
}

TEST(NsysCsvDamage, AnOpenQuoteNeverSwallowsTheFile) {
  std::string text(kTraceHeader);
  text += "0,50,1,1,1,1,32,1,1,NVIDIA H200 (0),1,7,\"open\n";
  for (int64_t i = 1; text.size() < (24UL << 20U); ++i) {
    text += std::to_string(i * 100) + ",50,1,1,1,1,32,1,1,NVIDIA H200 (0),1,7,kernel\n";
  }
  const TemporaryFolder folder;
  trace::TraceBuilder builder;
  ASSERT_TRUE(kNsysCsvReader.read(folder.write("open.csv", text), builder));
  const trace::Trace trace = std::move(builder).freeze();
  EXPECT_EQ(trace.kernels.size(),
            static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) - 2);
}

TEST(NsysCsvDamage, NamesOfAMegabyteAreKept) {
  const std::string name(1UL << 20U, 'n');
  std::string text = "Time (%),Total Time (ns),Instances,Name\n";
  text += "100.0,7,2,\"" + name + "\"\n1.0,1,1,k\n";
  const TemporaryFolder folder;
  trace::TraceBuilder builder;
  ASSERT_TRUE(kNsysCsvReader.read(folder.write("name.csv", text), builder));
  const trace::Trace trace = std::move(builder).freeze();
  ASSERT_EQ(trace.kernel_summaries.size(), 2U);
  EXPECT_EQ(trace.strings[trace.kernel_summaries[0].name], name);
}

TEST(NsysCsvDamage, EveryTruncationOfEveryFixture) {
  const TemporaryFolder folder;
  for (const auto& entry : std::filesystem::directory_iterator(testing::test_data("nsys_csv"))) {
    const std::string text = testing::file_bytes(entry.path());
    for (size_t size = 0; size < text.size(); ++size) {
      survives(folder, std::string_view(text).substr(0, size));
    }
  }
}

TEST(NsysCsvDamage, FlippedBytes) {
  const TemporaryFolder folder;
  std::mt19937 random(20261115);  // NOLINT: the same bytes each time
  for (const auto* name : {"console.csv", "traces.csv", "kern_exec_trace.csv"}) {
    const std::string whole =
        testing::file_bytes(testing::test_data("nsys_csv/" + std::string(name)));
    for (int round = 0; round < 400; ++round) {
      std::string text = whole;
      for (int i = 0; i < 1 + round % 8; ++i) {
        constexpr std::string_view kNasty = "\",\n\r\0(:[-9e\xFF";
        text[random() % text.size()] =
            round % 2 == 0 ? kNasty[random() % kNasty.size()] : static_cast<char>(random() % 256);
      }
      survives(folder, text);
    }
  }
}

TEST(NsysCsvDamage, WindowsEndOutsideOfQuotes) {
  EXPECT_EQ(nsys_csv::whole_lines("a,b\nc,d", 0), 4U);
  EXPECT_EQ(nsys_csv::whole_lines("a,\"b\nc\",d\ne", 0), 10U);
  EXPECT_EQ(nsys_csv::whole_lines("a,b\nc,\"d\ne", 0), 4U);
  EXPECT_EQ(nsys_csv::whole_lines("\"a\nb\nc", 0), 0U);
  EXPECT_EQ(nsys_csv::whole_lines("no line end", 0), 0U);
  const std::string long_row = "\"" + std::string(5UL << 20U, 'x') + "\ny\nz";
  EXPECT_EQ(nsys_csv::whole_lines(long_row, 0), long_row.size() - 1);
}

}  // namespace
}  // namespace llmprof::readers
