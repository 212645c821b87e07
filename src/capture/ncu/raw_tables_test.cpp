#include "capture/ncu/ncu_runs.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "testing/read_capture.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

using testing::TemporaryFolder;
using testing::test_data;

Nanoseconds total_duration(const trace::Trace& trace) {
  const auto& durations = trace.profiled_launches.duration;
  return std::accumulate(durations.begin(), durations.end(), Nanoseconds{0});
}

// Launches and duration by kernel name.
std::map<std::string, std::pair<size_t, Nanoseconds>> by_kernel(const trace::Trace& trace) {
  std::map<std::string, std::pair<size_t, Nanoseconds>> kernels;
  for (size_t i = 0; i < trace.profiled_launches.size(); ++i) {
    const auto& identity = trace.identities[trace.profiled_launches.identity[i]];
    auto& [launches, duration] = kernels[std::string(trace.strings[identity.name])];
    ++launches;
    duration += trace.profiled_launches.duration[i];
  }
  return kernels;
}

// Sums of a metric's values over all launches, by name and unit.
std::map<std::string, double> metric_sums(const trace::Trace& trace) {
  std::map<std::string, double> sums;
  for (const trace::MetricValues& values : trace.metric_values) {
    const trace::Metric& metric = trace.metrics[values.metric];
    sums[std::string(trace.strings[metric.name]) + " " + std::string(trace.strings[metric.unit])] +=
        values.sum;
  }
  return sums;
}

TEST(RawTables, UnionReadsBackAsItsParts) {
  const std::vector<std::filesystem::path> parts = {test_data("h200-decoder/ncu_raw.csv.gz"),
                                                    test_data("ncu/full_names_raw.csv")};
  RawUnion all;
  size_t launches = 0;
  std::map<std::string, std::pair<size_t, Nanoseconds>> kernels;
  std::map<std::string, double> sums;
  Nanoseconds duration = 0;
  for (const auto& part : parts) {
    const auto table = read_raw_table(part);
    ASSERT_TRUE(table) << table.error().message;
    launches += table->launches.size();
    all.add(*table);
    const auto trace = testing::read_capture(part);
    ASSERT_TRUE(trace) << trace.error().message;
    duration += total_duration(*trace);
    for (const auto& [name, figures] : by_kernel(*trace)) {
      kernels[name].first += figures.first;
      kernels[name].second += figures.second;
    }
    for (const auto& [name, sum] : metric_sums(*trace)) sums[name] += sum;
  }
  EXPECT_EQ(launches, 24U + 31);
  const TemporaryFolder folder;
  const auto trace = testing::read_capture(folder.write("raw.csv", all.to_csv()));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->profiled_launches.size(), launches);
  EXPECT_EQ(total_duration(*trace), duration);
  EXPECT_EQ(by_kernel(*trace), kernels);
  const auto read_back = metric_sums(*trace);
  ASSERT_GT(sums.size(), 100U);
  EXPECT_EQ(read_back.size(), sums.size());
  for (const auto& [name, sum] : sums) {
    ASSERT_TRUE(read_back.contains(name)) << name;
    EXPECT_NEAR(read_back.at(name), sum, 1e-9 * std::abs(sum)) << name;
  }
}

constexpr std::string_view kFirst =
    "\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"a\"\n"
    "\"\",\"\",\"\",\"ns\",\"%\"\n\"0\",\"1\",\"k<\"\"a\"\", b>\",\"1500\",\"1\"\n";

RawUnion union_with_first(std::string_view more) {
  RawUnion all;
  for (const std::string_view text : {kFirst, more}) {
    const auto table = parse_raw_table(text);
    EXPECT_TRUE(table);
    if (table) all.add(*table);
  }
  return all;
}

Nanoseconds duration_in(const std::string& csv) {
  const TemporaryFolder folder;
  const auto trace = testing::read_capture(folder.write("raw.csv", csv));
  EXPECT_TRUE(trace);
  return trace ? total_duration(*trace) : 0;
}

TEST(RawTables, HaveTheColumnsOfAllParts) {
  const RawUnion all = union_with_first(
      "\"ID\",\"Process ID\",\"Kernel Name\",\"b\",\"gpu__time_duration.sum\"\n"
      "\"\",\"\",\"\",\"\",\"ns\"\n\"0\",\"1\",\"k2\",\"7\",\"2500\"\n");
  EXPECT_EQ(all.to_csv(),
            "\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"a\",\"b\"\n"
            "\"\",\"\",\"\",\"ns\",\"%\",\"\"\n"
            "\"0\",\"1\",\"k<\"\"a\"\", b>\",\"1500\",\"1\",\"\"\n"
            "\"1\",\"1\",\"k2\",\"2500\",\"\",\"7\"\n");
  EXPECT_EQ(duration_in(all.to_csv()), 4000);
}

TEST(RawTables, KeepOtherUnitsApart) {
  const RawUnion all = union_with_first(
      "\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n"
      "\"\",\"\",\"\",\"us\"\n\"0\",\"1\",\"k2\",\"2.5\"\n");
  EXPECT_EQ(all.to_csv(), std::string(kFirst) +
                              "\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n"
                              "\"\",\"\",\"\",\"us\"\n\"1\",\"1\",\"k2\",\"2.5\"\n");
  EXPECT_EQ(duration_in(all.to_csv()), 4000);
}

TEST(RawTables, AreFoundAmongOtherOutput) {
  const auto table = parse_raw_table(
      "Hello\n==PROF== Connected\n\"ID\",\"Kernel Name\"\n\"\",\"\"\n\"0\",\"a\"\n==WARNING== b\n"
      "\"1\",\"c\"\nGoodbye, world\n\"2\"\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->launches.size(), 2U);
  EXPECT_EQ(table->kernel_names(), (std::vector<std::string>{"a", "c"}));
  for (const char* none : {"", "Hello\n", "\"ID\",\"Kernel Name\"\n\"\",\"\"\n"}) {
    EXPECT_FALSE(parse_raw_table(none)) << none;
  }
}

}  // namespace
}  // namespace llmprof::capture
