#include "readers/shared/reader.h"

#include <gtest/gtest.h>

#include "base/streams/byte_stream.h"
#include "testing/readers/ncu_kernels.h"
#include "testing/readers/read_ncu.h"
#include "testing/shared_captures.h"

namespace llmprof::readers {
namespace {

trace::Trace read_json(std::string_view content) {
  const testing::TemporaryFolder folder;
  return read_ncu(kNcuJsonReader, folder.write("ncu.json", content));
}

void expect_same(const trace::Trace& a, const trace::Trace& b) {
  ASSERT_EQ(a.profiled_launches.size(), b.profiled_launches.size());
  for (size_t i = 0; i < a.profiled_launches.size(); ++i) {
    EXPECT_EQ(a.profiled_launches.duration[i], b.profiled_launches.duration[i]);
    const trace::ProfiledIdentity& one = identity_of_launch(a, i);
    const trace::ProfiledIdentity& other = identity_of_launch(b, i);
    EXPECT_EQ(a.strings[one.name], b.strings[other.name]);
    EXPECT_EQ(a.strings[one.ranges], b.strings[other.ranges]);
    EXPECT_EQ(a.shapes[one.shape], b.shapes[other.shape]);
  }
  ASSERT_EQ(a.metric_values.size(), b.metric_values.size());
  for (size_t i = 0; i < a.metric_values.size(); ++i) {
    EXPECT_EQ(a.metric_values[i].count, b.metric_values[i].count);
    EXPECT_DOUBLE_EQ(a.metric_values[i].sum, b.metric_values[i].sum);
    EXPECT_EQ(a.strings[a.metrics[a.metric_values[i].metric].unit],
              b.strings[b.metrics[b.metric_values[i].metric].unit]);
  }
}

// The JSON fixtures were made from the CSV ones with Python's csv and json.
TEST(NcuJson, GivesTheSameAsTheCsv) {
  expect_same(read_ncu(kNcuJsonReader, testing::test_data("ncu/decode_raw.json")),
              read_ncu_csv(testing::test_data("ncu/decode_raw.csv")));
}

TEST(NcuJson, ReadsObjectsLineByLine) {
  const trace::Trace trace =
      read_ncu(kNcuJsonReader, testing::test_data("ncu/decode_details.jsonl"));
  ASSERT_EQ(trace.profiled_launches.size(), 1U);
  EXPECT_EQ(trace.profiled_launches.duration[0], 2880);
  EXPECT_EQ(trace.strings[identity_of_launch(trace, 0).ranges], "decode_all/decode_step");
}

std::string detail(const std::string& id, const std::string& name, const std::string& unit,
                   const std::string& value) {
  return R"({"ID": )" + id + R"(, "Kernel Name": "a \"b\" {[", "Device": 1, "Metric Name": )" +
         name + R"(, "Metric Unit": )" + unit + R"(, "Metric Value": )" + value + "}";
}

TEST(NcuJson, TakesNumbersAndNull) {
  const trace::Trace trace = read_json("[" + detail("0", R"("Duration")", R"("us")", "2.5") +
                                       ",\n" + detail("0", "null", "null", "null") + "," +
                                       detail("1", R"("Duration")", R"("ns")", R"("1,500")") + "]");
  ASSERT_EQ(trace.profiled_launches.size(), 2U);
  EXPECT_EQ(trace.profiled_launches.duration[0], 2500);
  EXPECT_EQ(trace.profiled_launches.duration[1], 1500);
  EXPECT_EQ(trace.strings[identity_of_launch(trace, 0).name], "a \"b\" {[");
}

TEST(NcuJson, CountsWhatIsNoRow) {
  const std::string row = detail("0", R"("Duration")", R"("ns")", "5");
  const trace::Trace trace =
      read_json("[" + row + R"(, {"a": 1}, {"b": tru}, {"ID": "1", "Kernel)");
  EXPECT_EQ(trace.profiled_launches.size(), 1U);
  EXPECT_EQ(diagnostic_count(trace, "ncu_bad_rows"), 3U);
}

TEST(NcuJson, RefusesAFileWithoutRows) {
  const testing::TemporaryFolder folder;
  for (const char* content : {"[]", "[{}]", "{\"Kernel Name\": ", "", "[[[[", "]]]]"}) {
    trace::TraceBuilder builder;
    const auto done = kNcuJsonReader.read(folder.write("ncu.json", content), builder);
    ASSERT_FALSE(done) << content;
    EXPECT_EQ(done.error().kind, ErrorKind::input);
  }
}

TEST(NcuJson, RecognizesItsRowsOnly) {
  for (const char* name : {"ncu/decode_raw.json", "ncu/decode_details.jsonl"}) {
    const auto head = read_head(testing::test_data(name), 65536);
    ASSERT_TRUE(head);
    EXPECT_TRUE(kNcuJsonReader.recognizes(*head)) << name;
    EXPECT_FALSE(kNcuCsvReader.recognizes(*head)) << name;
  }
  EXPECT_FALSE(kNcuJsonReader.recognizes(R"({"traceEvents": [{"name": "Kernel Name"}]})"));
  EXPECT_FALSE(kNcuJsonReader.recognizes(R"("ID","Kernel Name")"));
}

TEST(NcuJson, SeedEntryPointGivesRecords) {
  const auto rows = parse_ncu_file(testing::test_data("ncu/decode_raw.json"), kNcuJsonReader);
  ASSERT_TRUE(rows) << rows.error().message;
  uint64_t calls = 0;
  for (const KernelRecord& record : kernels_from_ncu_rows(*rows, "cuda:0")) calls += record.calls;
  EXPECT_EQ(calls, 12U);
}

}  // namespace
}  // namespace llmprof::readers
