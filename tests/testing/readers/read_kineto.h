#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "base/streams/byte_stream.h"
#include "readers/shared/reader.h"
#include "testing/readers/diagnostic_count.h"

namespace llmprof::testing {

// Reads a text as a trace: an error, or the frozen trace.
inline Result<trace::Trace> read_kineto_text(std::string_view text,
                                             const readers::KinetoOptions& options = {}) {
  trace::TraceBuilder builder;
  const auto stream = stream_over(text);
  if (auto read = readers::read_kineto(*stream, "test.json", builder, options); !read) {
    return fail_with(read.error());
  }
  return std::move(builder).freeze();
}

inline trace::Trace read_kineto_or_fail(std::string_view text,
                                        const readers::KinetoOptions& options = {}) {
  auto trace = read_kineto_text(text, options);
  EXPECT_TRUE(trace) << trace.error().message;
  return trace ? std::move(*trace) : trace::Trace();
}

inline Nanoseconds total_of(const trace::KernelTable& kernels) {
  return std::transform_reduce(kernels.end.begin(), kernels.end.end(), kernels.start.begin(),
                               Nanoseconds{0}, std::plus<>(), std::minus<>());
}

}  // namespace llmprof::testing
