#include "readers/shared/reader.h"

#include <gtest/gtest.h>

#include <string>

#include "testing/readers/ncu_kernels.h"
#include "testing/readers/read_ncu.h"
#include "testing/shared_captures.h"

namespace llmprof::readers {
namespace {

const std::string kRawHeader = with_quotes(
    "'ID','Process ID','Process Name','Host Name','Kernel Name','Context','Stream','Block Size',"
    "'Grid Size','Device','CC','gpu__time_duration.sum','dram__bytes.sum','text__metric'\n");
std::string raw_units(const std::string& time, const std::string& bytes) {
  return with_quotes("'','','','','','','','','','','','" + time + "','" + bytes + "',''\n");
}
std::string raw_row(int id, const std::string& kernel, const std::string& time,
                    const std::string& bytes) {
  return with_quotes("'" + std::to_string(id) + "','9','prog','127.0.0.1','" + kernel +
                     "','1','7','(128, 1, 1)','(16, 2, 1)','0','9.0','" + time + "','" + bytes +
                     "','PolicySpread'\n");
}
std::string with_crlf(std::string text) {
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
    text.insert(at, "\r");
  }
  return text;
}
const std::string kTwoRows = kRawHeader + raw_units("us", "Kbyte") +
                             raw_row(0, "a", "2.880000", "1,024.5") +
                             raw_row(1, "b", "1.500000", "2.000000");

void expect_two_rows(const trace::Trace& trace) {
  ASSERT_EQ(trace.profiled_launches.size(), 2U);
  EXPECT_EQ(trace.profiled_launches.duration[0], 2880);
  EXPECT_EQ(trace.profiled_launches.duration[1], 1500);
  EXPECT_EQ(trace.strings[identity_of_launch(trace, 1).name], "b");
  const auto bytes = metric_over_all(trace, "dram__bytes.sum", "byte");
  ASSERT_TRUE(bytes);
  EXPECT_DOUBLE_EQ(bytes->sum, 1'026'500);
}

TEST(NcuCsv, ReadsARawPage) {
  const trace::Trace trace = read_ncu_text(kTwoRows);
  expect_two_rows(trace);
  EXPECT_TRUE(trace.diagnostics.items().empty());
  const trace::LaunchShape& shape = trace.shapes[identity_of_launch(trace, 0).shape];
  EXPECT_EQ(shape.grid, (trace::Extent{16, 2, 1}));
  EXPECT_EQ(shape.block, (trace::Extent{128, 1, 1}));
  EXPECT_FALSE(identity_of_launch(trace, 0).ranges.valid());
  EXPECT_EQ(trace.captures.at(0).tool, "Nsight Compute");
  EXPECT_FALSE(metric_over_all(trace, "text__metric", ""));
  EXPECT_FALSE(metric_over_all(trace, "Context", ""));
}

TEST(NcuCsv, ReadsLineEndsOfWindows) { expect_two_rows(read_ncu_text(with_crlf(kTwoRows))); }

TEST(NcuCsv, ReadsByteOrderMarkAndHeaderBehindProgramOutput) {
  expect_two_rows(read_ncu_text("\xEF\xBB\xBF" + kTwoRows));
  expect_two_rows(read_ncu_text("progress 100%" + kTwoRows));
  EXPECT_TRUE(kNcuCsvReader.recognizes("\xEF\xBB\xBF" + kTwoRows));
}

TEST(NcuCsv, OddQuotesAroundTheTableSwallowNothing) {
  const std::string preamble =
      "==PROF== Connected to process 9 (/usr/bin/prog)\nsize 12\" wide\n\"\n";
  const std::string between = "it's 5\" long, \"quoted, and\n";
  const std::string content = preamble + kRawHeader + raw_units("us", "Kbyte") +
                              raw_row(0, "a", "2.880000", "1,024.5") + between +
                              raw_row(1, "b", "1.500000", "2.000000") +
                              "==PROF== Disconnected from process 9\n\"done\n";
  const trace::Trace trace = read_ncu_text(content);
  expect_two_rows(trace);
  EXPECT_FALSE(trace.diagnostics.has("ncu_bad_rows"));
}

TEST(NcuCsv, ReadsVersionWhereItIsPrinted) {
  const trace::Trace trace =
      read_ncu_text("Version 2025.3.1.0 (build 36398880) (public-release)\n" + kTwoRows);
  EXPECT_EQ(trace.captures.at(0).tool_version, "2025.3.1.0");
}

TEST(NcuCsv, DecidesTheDecimalSignByTheFile) {
  const trace::Trace trace =
      read_ncu_text(kRawHeader + raw_units("us", "byte") +
                    raw_row(0, "a", "1.002,880000", "1.234") + raw_row(1, "b", "2,500000", "0"));
  ASSERT_EQ(trace.profiled_launches.size(), 2U);
  EXPECT_EQ(trace.profiled_launches.duration[0], 1'002'880);
  EXPECT_EQ(trace.profiled_launches.duration[1], 2500);
  EXPECT_DOUBLE_EQ(metric_over_all(trace, "dram__bytes.sum", "byte")->sum, 1234);
  EXPECT_FALSE(trace.diagnostics.has("ncu_mixed_decimals"));
}

TEST(NcuCsv, TakesAmbiguousNumbersAsEnglish) {
  const trace::Trace trace =
      read_ncu_text(kRawHeader + raw_units("ns", "byte") + raw_row(0, "a", "1,234", "5"));
  EXPECT_EQ(trace.profiled_launches.duration[0], 1234);
}

TEST(NcuCsv, CountsValuesInTheWrongConvention) {
  const trace::Trace trace =
      read_ncu_text(kRawHeader + raw_units("ns", "byte") + raw_row(0, "a", "12.5", "0.25") +
                    raw_row(1, "a", "7", "0,5"));
  EXPECT_EQ(diagnostic_count(trace, "ncu_mixed_decimals"), 1U);
  EXPECT_EQ(metric_over_all(trace, "dram__bytes.sum", "byte")->count, 1U);
}

TEST(NcuCsv, KeepsLaunchesWithoutDuration) {
  const trace::Trace trace = read_ncu_text(
      kRawHeader + raw_units("ns", "byte") + raw_row(0, "a", "n/a", "1") +
      raw_row(1, "a", "", "no data") + raw_row(2, "a", "nan", "inf") + raw_row(3, "a", "5", "3"));
  ASSERT_EQ(trace.profiled_launches.size(), 4U);
  EXPECT_EQ(trace.profiled_launches.duration[0], trace::kUnknownDuration);
  EXPECT_EQ(trace.profiled_launches.duration[3], 5);
  EXPECT_EQ(diagnostic_count(trace, "ncu_no_duration"), 3U);
  const auto bytes = metric_over_all(trace, "dram__bytes.sum", "byte");
  EXPECT_EQ(bytes->count, 2U);
  EXPECT_DOUBLE_EQ(bytes->min, 1);
  EXPECT_DOUBLE_EQ(bytes->max, 3);
}

TEST(NcuCsv, TakesDurationsWithoutUnitAsNanosecondsAndSaysSo) {
  const trace::Trace trace = read_ncu_text(kRawHeader + raw_row(0, "a", "1,500", "3"));
  EXPECT_EQ(trace.profiled_launches.duration[0], 1500);
  EXPECT_EQ(diagnostic_count(trace, "ncu_no_unit"), 1U);
}

TEST(NcuCsv, CountsTheRowThatIsCutOffAndKeepsTheRest) {
  const std::string last = raw_row(2, "c", "3.000000", "1.000000");
  for (size_t cut = 6; cut + 2 < last.size(); ++cut) {
    const trace::Trace trace = read_ncu_text(kTwoRows + last.substr(0, cut));
    expect_two_rows(trace);
    EXPECT_EQ(diagnostic_count(trace, "ncu_bad_rows"), 1U) << cut;
  }
}

TEST(NcuCsv, RowWithALineBreakInACellIsOneRow) {
  const trace::Trace trace = read_ncu_text(kRawHeader + raw_units("us", "Kbyte") +
                                           raw_row(0, "a\nb", "2.880000", "1,024.5") +
                                           raw_row(1, "b", "1.500000", "2.000000"));
  expect_two_rows(trace);
  EXPECT_EQ(trace.strings[identity_of_launch(trace, 0).name], "a b");
}

TEST(NcuCsv, ReadsSeveralTablesInOneFile) {
  const std::string other_header = with_quotes(
      "'ID','Process ID','Kernel Name','Device','dram__bytes.sum','gpu__time_duration.avg'\n"
      "'','','','','Mbyte','ms'\n"
      "'0','9','c','1','3.000000','0.004000'\n");
  const trace::Trace trace =
      read_ncu_text(kTwoRows + "==PROF== Disconnected\n" + other_header + kTwoRows);
  ASSERT_EQ(trace.profiled_launches.size(), 5U);
  EXPECT_EQ(trace.profiled_launches.duration[2], 4000);
  EXPECT_EQ(total_duration(trace), 2 * 4380 + 4000);
  EXPECT_DOUBLE_EQ(metric_over_all(trace, "dram__bytes.sum", "byte")->sum, 2 * 1'026'500 + 3e6);
  ASSERT_EQ(trace.devices.size(), 2U);
  EXPECT_EQ(trace.devices[identity_of_launch(trace, 2).device.index()].ordinal, 1U);
}

// The header changes in the middle of a content of many windows, which are all parsed before that
// is known.
TEST(NcuCsv, HeadersGovernTheWindowsBehindThem) {
  std::string rows;
  const std::string kernel(3000, 'k');
  for (int i = 0; i < 1000; ++i) rows += raw_row(i, kernel, "1.000000", "1.000000");
  const trace::Trace trace =
      read_ncu_text(std::string(1'500'000, '-') + "\n" + kRawHeader + raw_units("us", "byte") +
                    rows + kRawHeader + raw_units("ns", "Kbyte") + rows);
  ASSERT_EQ(trace.profiled_launches.size(), 2000U);
  EXPECT_EQ(total_duration(trace), 1000 * 1000 + 1000);
  EXPECT_DOUBLE_EQ(metric_over_all(trace, "dram__bytes.sum", "byte")->sum, 1000 + 1e6);
  EXPECT_TRUE(trace.diagnostics.items().empty());
}

const std::string kOldDetails = with_quotes(
    "'ID','Process ID','Process Name','Host Name','Kernel Name','Kernel Time','Context','Stream',"
    "'Section Name','Metric Name','Metric Unit','Metric Value'\n");
std::string old_detail(int id, const std::string& name, const std::string& unit,
                       const std::string& value) {
  return with_quotes("'" + std::to_string(id) +
                     "','9','prog','127.0.0.1','k','2020-Jan-01 00:00:00','1','7','GPU Speed Of "
                     "Light','" +
                     name + "','" + unit + "','" + value + "'\n");
}

TEST(NcuCsv, ReadsOldDetailsPagesAndUnitsThatDiffer) {
  const trace::Trace trace =
      read_ncu_text(kOldDetails + old_detail(0, "Duration", "usecond", "2.50") +
                    old_detail(0, "SM Frequency", "cycle/nsecond", "1.25") +
                    old_detail(0, "Memory Throughput", "%", "40") +
                    old_detail(0, "Memory Throughput", "Gbyte/second", "1.5") +
                    old_detail(1, "Duration", "nsecond", "800") +
                    old_detail(1, "SM Frequency", "cycle/usecond", "750") +
                    old_detail(1, "Memory Throughput", "Mbyte/second", "500") +
                    old_detail(1, "Memory Throughput", "Mbyte/second", "500"));
  ASSERT_EQ(trace.profiled_launches.size(), 2U);
  EXPECT_EQ(trace.profiled_launches.duration[0], 2500);
  EXPECT_EQ(trace.profiled_launches.duration[1], 800);
  EXPECT_DOUBLE_EQ(metric_over_all(trace, "SM Frequency", "hz")->sum, 2e9);
  const auto throughput = metric_over_all(trace, "Memory Throughput", "byte/s");
  EXPECT_DOUBLE_EQ(throughput->sum, 2e9);
  EXPECT_EQ(throughput->count, 2U);  // the same metric twice in a launch counts once
  EXPECT_DOUBLE_EQ(metric_over_all(trace, "Memory Throughput", "%")->sum, 40);
  EXPECT_EQ(diagnostic_count(trace, "ncu_rounded_durations"), 1U);
}

TEST(NcuCsv, ReadsRuleRowsNvtxColumnsAndLaunchStatistics) {
  const std::string header =
      "'ID','Process ID','Process Name','Host Name',"
      "'thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg',"
      "'Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg',"
      "'Kernel Name','Context','Stream','Block Size','Grid Size','Device','CC','Section Name',"
      "'Metric Name','Metric Unit','Metric Value','Rule Name','Rule Type','Rule Description',"
      "'Estimated Speedup Type','Estimated Speedup'\n";
  const std::string launch =
      "'4','9','prog','127.0.0.1','9  ''LLM:decode_all:none:none:none:none:none:none'' ',"
      "'1:<default domain>:request:none:none:none:none:none:none','k<''x''>','1','7',"
      "'(64, 2, 1)','(3, 1, 1)','2','9.0',";
  const trace::Trace trace = read_ncu_text(with_quotes(
      header + launch + "'Launch Statistics','Registers Per Thread','register/thread','40',\n" +
      launch + "'Launch Statistics','Dynamic Shared Memory Per Block','Kbyte/block','45.38',\n" +
      launch + "'Launch Statistics','Static Shared Memory Per Block','byte/block','16',\n" +
      launch + "'Occupancy','','','','Rule','OPT','Two lines,\nof ''advice''','global','12.5'\n" +
      launch + "'GPU Speed Of Light Throughput','Duration','ms','0.25',\n"));
  ASSERT_EQ(trace.profiled_launches.size(), 1U);
  EXPECT_FALSE(trace.diagnostics.has("ncu_bad_rows"));
  EXPECT_EQ(trace.profiled_launches.duration[0], 250'000);
  const trace::ProfiledIdentity& identity = identity_of_launch(trace, 0);
  EXPECT_EQ(trace.strings[identity.name], "k<\"x\">");
  EXPECT_EQ(trace.strings[identity.ranges], "request/LLM@decode_all");
  EXPECT_EQ(trace.devices[identity.device.index()].ordinal, 2U);
  EXPECT_EQ(trace.devices[identity.device.index()].compute_capability, "9.0");
  const trace::LaunchShape& shape = trace.shapes[identity.shape];
  EXPECT_EQ(shape.registers_per_thread, 40U);
  EXPECT_EQ(shape.dynamic_shared_bytes, 45'380U);
  EXPECT_EQ(shape.static_shared_bytes, 16U);
  EXPECT_EQ(shape.block, (trace::Extent{64, 2, 1}));
}

TEST(NcuCsv, BoundsTheRoomForMetrics) {
  std::string header = with_quotes("'ID','Kernel Name','gpu__time_duration.sum'");
  std::string values;
  for (int i = 0; i < 2000; ++i) {
    header += ",\"m__" + std::to_string(i) + "\"";
    values += ",\"1\"";
  }
  std::string content = header + "\n";
  for (int i = 0; i < 500; ++i) {
    content +=
        "\"" + std::to_string(i) + "\",\"kernel" + std::to_string(i) + "\",\"10\"" + values + "\n";
  }
  const trace::Trace trace = read_ncu_text(content);
  EXPECT_EQ(trace.profiled_launches.size(), 500U);
  EXPECT_EQ(total_duration(trace), 5000);
  EXPECT_LE(trace.metric_values.size(), 800'000U);
  EXPECT_GT(diagnostic_count(trace, "ncu_metrics_left_out"), 0U);
}

TEST(NcuCsv, ReadsSymbolsAsTheNamesTheyStandFor) {
  const testing::TemporaryFolder folder;
  const auto rows = parse_ncu_file(
      folder.write("x.csv",
                   kRawHeader + raw_units("us", "byte") + raw_row(0, "_Z4gemmPKfi", "9.0", "1") +
                       raw_row(1, "_Znot_one", "2.0", "1") + raw_row(2, "_Z4gemmPKfi", "4.0", "1")),
      kNcuCsvReader);
  ASSERT_TRUE(rows) << rows.error().message;
  const auto records = kernels_from_ncu_rows(*rows, "cuda:0");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].kernel_name, "gemm(float const*, int)");
  EXPECT_EQ(records[0].calls, 2U);
  EXPECT_EQ(records[1].kernel_name, "_Znot_one");
}

TEST(NcuCsv, MakesKernelRecords) {
  const testing::TemporaryFolder folder;
  const auto rows = parse_ncu_file(
      folder.write("x.csv", kRawHeader + raw_units("us", "byte") + raw_row(0, "a", "2.0", "1") +
                                raw_row(1, "b", "9.0", "1") + raw_row(2, "a", "4.0", "1")),
      kNcuCsvReader);
  ASSERT_TRUE(rows) << rows.error().message;
  const auto records = kernels_from_ncu_rows(*rows, "cuda:0");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].kernel_name, "b");
  EXPECT_EQ(records[1].kernel_name, "a");
  EXPECT_EQ(records[1].device, "cuda:0");
  EXPECT_EQ(records[1].calls, 2U);
  EXPECT_DOUBLE_EQ(records[1].total_ms, 0.006);
  EXPECT_DOUBLE_EQ(records[1].mean_ms, 0.003);
  EXPECT_EQ(kernels_from_ncu_rows(*rows, "")[0].device, "cuda:0");
}

TEST(NcuCsv, DoesNotRecognizeOtherTables) {
  EXPECT_FALSE(kNcuCsvReader.recognizes("Time (%),Total Time (ns),Instances,Name\n1,2,3,k\n"));
  EXPECT_FALSE(kNcuCsvReader.recognizes("{\"traceEvents\": []}"));
  EXPECT_FALSE(kNcuCsvReader.recognizes("\"ID\",\"Name\"\n\"1\",\"x\"\n"));
  EXPECT_FALSE(kNcuCsvReader.recognizes(""));
}

}  // namespace
}  // namespace llmprof::readers
