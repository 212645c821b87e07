#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "readers/shared/reader.h"
#include "testing/readers/diagnostic_count.h"
#include "testing/temporary_folder.h"

namespace llmprof::testing {

// Reads a log that consists of these bytes.
inline Result<trace::Trace> read_bytes(std::string_view bytes) {
  static const TemporaryFolder folder;
  trace::TraceBuilder builder;
  const auto done = readers::kCollectorLogReader.read(folder.write("log", bytes), builder);
  if (!done) return fail_with(done.error());
  return std::move(builder).freeze();
}

inline trace::Trace read_or_fail(std::string_view bytes) {
  auto trace = read_bytes(bytes);
  EXPECT_TRUE(trace) << trace.error().message;
  return trace ? std::move(*trace) : trace::Trace();
}

inline std::string message_of(const trace::Trace& trace, std::string_view code) {
  for (const Diagnostic& item : trace.diagnostics.items()) {
    if (item.code == code) return item.message;
  }
  return {};
}

}  // namespace llmprof::testing
