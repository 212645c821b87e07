#include <gtest/gtest.h>

#include <random>

#include "readers/shared/reader.h"
#include "testing/readers/read_kineto.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::readers {
namespace {

using testing::count_of;
using testing::read_kineto_or_fail;
using testing::read_kineto_text;
using testing::total_of;

// Cut by hand from h200-dense-graph/kineto_graph.json.gz: complete events, unchanged. Counts by
// Python's json (Decimal(dur) * 1000).
constexpr size_t kSmallKernels = 14;
constexpr size_t kSmallOperators = 9;
std::string small_trace() {
  return testing::file_bytes(testing::test_data("kineto/h200_graph_small.json"));
}

std::string kernel(std::string_view name, int start, std::string_view more = "") {
  return R"({"ph":"X","cat":"kernel","name":")" + std::string(name) + R"(","pid":0,"tid":7,"ts":)" +
         std::to_string(start) + R"(,"dur":1)" + std::string(more) + "}";
}

TEST(KinetoWindows, EveryWindowSizeGivesTheSame) {
  const std::string text = small_trace();
  const trace::Trace expected = read_kineto_or_fail(text);
  ASSERT_EQ(expected.kernels.size(), kSmallKernels);
  ASSERT_EQ(expected.operators.size(), kSmallOperators);
  for (size_t window = 1; window < 3000; window += window < 100 ? 1 : 37) {
    const trace::Trace trace = read_kineto_or_fail(text, {window, 1 + unsigned(window % 3)});
    ASSERT_EQ(trace.kernels.start, expected.kernels.start) << window;
    ASSERT_EQ(trace.kernels.end, expected.kernels.end) << window;
    ASSERT_EQ(trace.kernels.correlation, expected.kernels.correlation) << window;
    ASSERT_EQ(trace.kernels.external_id, expected.kernels.external_id) << window;
    ASSERT_EQ(trace.launches.start, expected.launches.start) << window;
    ASSERT_EQ(trace.operators.external_id, expected.operators.external_id) << window;
    ASSERT_EQ(trace.diagnostics.items().size(), expected.diagnostics.items().size()) << window;
  }
}

TEST(KinetoWindows, StringsWithStructureAtWindowEdges) {
  const std::string names[] = {R"(a}, {b)", R"(\"ph\":{\\)", R"(]}]}\\\\)", R"(\\\"}{)",
                               R"(\u007b\u007d\")"};
  std::string list;
  for (int i = 0; i < 40; ++i) {
    list += (i == 0 ? "" : ", ") + kernel(names[i % 5] + std::to_string(i), i,
                                          i % 3 == 0 ? R"(,"args":{"x":["]}",{}],"y":{}})" : "");
  }
  const std::string text = "{\"traceEvents\": [" + list + "], \"z\": \"]}\"}";
  for (size_t window = 1; window < 400; ++window) {
    const trace::Trace trace = read_kineto_or_fail(text, {window, 2});
    ASSERT_EQ(trace.kernels.size(), 40U) << window;
    ASSERT_EQ(total_of(trace.kernels), 40'000) << window;
    ASSERT_EQ(trace.strings[trace.kernels.name[3]], "\\\"}{3") << window;
    ASSERT_EQ(trace.strings[trace.kernels.name[4]], "{}\"4") << window;
    ASSERT_TRUE(trace.diagnostics.items().empty()) << window;
  }
}

TEST(KinetoWindows, AnEventLargerThanTheWindow) {
  const std::string name(3UL << 20U, 'n');
  const trace::Trace trace = read_kineto_or_fail(
      "[" + kernel("a", 1) + "," + kernel(name, 2) + "," + kernel("b", 3) + "]", {4096, 2});
  ASSERT_EQ(trace.kernels.size(), 3U);
  EXPECT_EQ(trace.strings[trace.kernels.name[1]].size(), name.size());
}

TEST(KinetoDamage, TruncatedFileGivesWhatPrecedes) {
  std::string text = "{\"traceEvents\":[" + kernel("a", 1) + "," + kernel("b", 2) + ",";
  const std::string third = kernel("c", 3);
  for (size_t kept = 0; kept <= third.size(); ++kept) {
    const trace::Trace trace = read_kineto_or_fail(text + third.substr(0, kept));
    ASSERT_EQ(trace.kernels.size(), kept == third.size() ? 3U : 2U) << kept;
    EXPECT_EQ(count_of(trace, "kineto_truncated"), 1U) << kept;
    EXPECT_EQ(count_of(trace, "kineto_bad_events"), 0U) << kept;
  }
}

TEST(KinetoDamage, TruncatedGzip) {
  const auto folder = testing::h200_captures();
  const testing::TemporaryFolder scratch;
  const std::string whole =
      testing::file_bytes(folder / "h200-dense-graph" / "kineto_graph.json.gz");
  trace::TraceBuilder builder;
  const auto path = scratch.write("cut.json.gz", whole.substr(0, whole.size() / 2));
  const auto read = kKinetoReader.read(path, builder);
  ASSERT_TRUE(read) << read.error().message;
  const trace::Trace trace = std::move(builder).freeze();
  EXPECT_GT(trace.kernels.size(), 1000U);
  EXPECT_LT(trace.kernels.size(), 25740U);
  EXPECT_EQ(count_of(trace, "kineto_truncated"), 1U);
}

TEST(KinetoDamage, InvalidUtf8IsRepaired) {
  const trace::Trace trace =
      read_kineto_or_fail("[" + kernel("a", 1) + "," + kernel("x\xFFy\xC3", 2) + "," +
                          kernel("tab\there", 3) + "," + kernel("b", 4) + "]");
  ASSERT_EQ(trace.kernels.size(), 4U);
  EXPECT_EQ(trace.strings[trace.kernels.name[1]], "x\xEF\xBF\xBDy\xEF\xBF\xBD");
  EXPECT_EQ(trace.strings[trace.kernels.name[2]], "tab here");
  EXPECT_EQ(count_of(trace, "kineto_invalid_utf8"), 2U);
  EXPECT_EQ(count_of(trace, "kineto_bad_events"), 0U);
}

TEST(KinetoDamage, BadEventsAreCountedAndTheirNeighborsKept) {
  const std::string bad[] = {
      R"({"ph":"X","cat":"kernel","name":"n","ts":1})",
      R"({"ph":"X","cat":"kernel","name":"n","dur":1})",
      R"({"ph":"X","cat":"kernel","ts":1,"dur":1})",
      R"({"ph":"X","cat":"kernel","name":7,"ts":1,"dur":1})",
      R"({"ph":"X","cat":"kernel","name":"n","ts":1,"dur":-1})",
      R"({"ph":"X","cat":"kernel","name":"n","ts":1e30,"dur":1})",
      R"({"ph":"X","cat":"kernel","name":"n","ts":NaN,"dur":1})",
      R"({"ph":"X","cat":"kernel","name":"n","ts":1,"dur":9223372036854775807})",
      R"({"cat":"kernel","name":"n","ts":1,"dur":1})",
      R"({"ph":"X","cat":"kernel","name" "n","ts":1,"dur":1})",
      R"({"ph":"X",,})",
      R"({"ph")",
      R"({"ph":"X","args":[})",
      R"(17)",
      R"("text")",
      R"({})",
      R"({"ph":"X","cat":"kernel","name":"lost " quote","ts":1,"dur":1})",
  };
  for (const std::string& event : bad) {
    for (const size_t window : {10UL, 100UL, 100'000UL}) {
      const trace::Trace trace = read_kineto_or_fail(
          "[" + kernel("a", 1) + "," + event + "," + kernel("b", 2) + "," + kernel("c", 3) + "]",
          {window, 2});
      EXPECT_EQ(trace.kernels.size(), 3U) << event << " in windows of " << window;
      // A lost brace or quote also hides the array's end, which then counts as one more.
      EXPECT_GE(count_of(trace, "kineto_bad_events"), 1U) << event << " in windows of " << window;
      EXPECT_LE(count_of(trace, "kineto_bad_events"), 2U) << event << " in windows of " << window;
    }
  }
}

TEST(KinetoDamage, OddArgumentsDoNotFailTheEvent) {
  for (const std::string_view args :
       {R"({"correlation":18446744073709551616})", R"({"correlation":-1,"device":"x"})",
        R"({"grid":7,"block":"8"})", R"({"grid":[1,2,3,4,5],"block":[[1],{}]})", R"([])", R"("x")",
        R"(null)", R"({"grid":[],"stream":{},"External id":[1,2]})"}) {
    const trace::Trace trace =
        read_kineto_or_fail("[" + kernel("a", 1, R"(,"args":)" + std::string(args)) + "]");
    ASSERT_EQ(trace.kernels.size(), 1U) << args;
    EXPECT_EQ(trace.kernels.correlation[0], 0U);
    EXPECT_TRUE(trace.diagnostics.items().empty()) << args;
  }
}

TEST(KinetoDamage, TextBehindTheTrace) {
  const trace::Trace trace = read_kineto_or_fail("[" + kernel("a", 1) + "] \n [1]");
  EXPECT_EQ(trace.kernels.size(), 1U);
  EXPECT_EQ(count_of(trace, "kineto_stray_text"), 1U);
  const trace::Trace open =
      read_kineto_or_fail("{\"traceEvents\":[" + kernel("a", 1) + "],\"x\":{\"y");
  EXPECT_EQ(open.kernels.size(), 1U);
  EXPECT_EQ(count_of(open, "kineto_truncated"), 1U);
}

TEST(KinetoDamage, AnEventThatNeverEndsCostsBoundedMemoryAndTime) {
  // 40 MiB after a lost quote, on one line; most events after it are found again.
  std::string text = "[" + kernel("a", 1) + R"(,{"ph":"X","name":"lost,)";
  size_t good = 1;
  for (int i = 0; text.size() < (40UL << 20U); ++i) {
    text += "," + kernel(std::string(400, 'k'), i + 10);
    ++good;
  }
  text += "]";
  const trace::Trace trace = read_kineto_or_fail(text);
  EXPECT_GT(trace.kernels.size(), good / 2);
  EXPECT_GE(count_of(trace, "kineto_bad_events"), 1U);

  // Starts of events that never close: repeated searches are limited.
  std::string nested = "[" + kernel("a", 1) + ",";
  while (nested.size() < (12UL << 20U)) nested += R"({"ph":)";
  EXPECT_EQ(read_kineto_or_fail(nested).kernels.size(), 1U);
  EXPECT_EQ(read_kineto_or_fail("[" + kernel("a", 1) + "," + std::string(20UL << 20U, '['))
                .kernels.size(),
            1U);
}

// Neither a crash nor an empty success, wherever the file is cut; tests/robustness cuts it at every
// kind of place.
TEST(KinetoDamage, TruncationsOfTheFixture) {
  constexpr size_t kPrime = 11;
  const std::string text = small_trace();
  for (size_t kept = 0; kept < text.size(); kept += kPrime) {
    const auto trace =
        read_kineto_text(std::string_view(text).substr(0, kept), {1UL << (11U + kept % 6), 1});
    if (trace) {
      ASSERT_GT(trace->kernels.size() + trace->launches.size() + trace->operators.size(), 0U);
      const bool only_blanks_missing = kept + 2 >= text.size();
      ASSERT_TRUE(only_blanks_missing || trace->diagnostics.has("kineto_truncated")) << kept;
    } else {
      ASSERT_EQ(trace.error().kind, ErrorKind::input);
    }
  }
}

TEST(KinetoDamage, FlippedBytes) {
  const std::string text = small_trace();
  std::mt19937 random(3);
  std::uniform_int_distribution<size_t> place(0, text.size() - 1);
  std::uniform_int_distribution<int> value(0, 255);
  for (int round = 0; round < 600; ++round) {
    std::string damaged = text;
    for (int i = 0; i <= round % 4; ++i) damaged[place(random)] = static_cast<char>(value(random));
    const auto trace = read_kineto_text(damaged, {1UL << (9U + unsigned(round) % 8), 1});
    if (!trace) {
      ASSERT_EQ(trace.error().kind, ErrorKind::input);
      continue;
    }
    // One byte can damage only the event that contains it, or the structure around the events.
    ASSERT_LE(trace->kernels.size(), kSmallKernels);
  }
}

}  // namespace
}  // namespace llmprof::readers
