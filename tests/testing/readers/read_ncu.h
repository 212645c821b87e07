#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "readers/shared/reader.h"
#include "testing/temporary_folder.h"

namespace llmprof::readers {

// Rows are easier to read in single quotes.
inline std::string with_quotes(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '"');
  return text;
}

inline trace::Trace read_ncu(const Reader& reader, const std::filesystem::path& path) {
  trace::TraceBuilder builder;
  const auto done = reader.read(path, builder);
  EXPECT_TRUE(done) << done.error().message;
  return std::move(builder).freeze();
}
inline trace::Trace read_ncu_csv(const std::filesystem::path& path) {
  return read_ncu(kNcuCsvReader, path);
}
inline trace::Trace read_ncu_text(std::string_view content) {
  const testing::TemporaryFolder folder;
  return read_ncu_csv(folder.write("ncu.csv", content));
}
inline std::string refusal_of(std::string_view content) {
  const testing::TemporaryFolder folder;
  trace::TraceBuilder builder;
  const auto done = kNcuCsvReader.read(folder.write("ncu.csv", content), builder);
  EXPECT_FALSE(done);
  if (done) return {};
  EXPECT_EQ(done.error().kind, ErrorKind::input);
  EXPECT_TRUE(kNcuCsvReader.recognizes(content));
  EXPECT_EQ(builder.trace().captures.size(), 0U);
  return done.error().message;
}

inline Nanoseconds total_duration(const trace::Trace& trace) {
  Nanoseconds total = 0;
  for (const Nanoseconds duration : trace.profiled_launches.duration) {
    if (duration != trace::kUnknownDuration) total += duration;
  }
  return total;
}
inline const trace::ProfiledIdentity& identity_of_launch(const trace::Trace& trace, size_t launch) {
  return trace.identities[trace.profiled_launches.identity[launch]];
}
inline uint64_t diagnostic_count(const trace::Trace& trace, std::string_view code) {
  uint64_t count = 0;
  for (const Diagnostic& item : trace.diagnostics.items())
    count += item.code == code ? item.count : 0;
  return count;
}

// A metric's values over all launches; nullopt if no launch has it.
inline std::optional<trace::MetricValues> metric_over_all(const trace::Trace& trace,
                                                          std::string_view name,
                                                          std::string_view unit) {
  std::optional<trace::MetricValues> all;
  for (const trace::MetricValues& values : trace.metric_values) {
    const trace::Metric& metric = trace.metrics[values.metric];
    if (trace.strings[metric.name] != name || trace.strings[metric.unit] != unit) continue;
    if (!all) {
      all = values;
      continue;
    }
    all->count += values.count;
    all->sum += values.sum;
    all->min = std::min(all->min, values.min);
    all->max = std::max(all->max, values.max);
  }
  return all;
}

}  // namespace llmprof::readers
