#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace llmprof::testing {

// The folder of large captures beside the checkout (`../shared/captures`), or the one that the
// environment variable LLMPROF_CAPTURES names; nothing where there is none.
std::optional<std::filesystem::path> shared_captures();

// A capture kept in this repository under tests/data.
std::filesystem::path test_data(std::string_view name);

// The whole captures of tests/data/h200-captures, unpacked by the build: h200-llama-eager,
// h200-dense-graph, h200-hf.
std::filesystem::path h200_captures();

}  // namespace llmprof::testing

// Skips a test, saying so, where the large captures are absent. For tests whose suite begins with
// SharedCaptures: all of a module are one entry of ctest.
#define LLMPROF_NEEDS_SHARED_CAPTURES(folder)                                            \
  const auto folder##_or_none = llmprof::testing::shared_captures();                     \
  if (!folder##_or_none) {                                                               \
    GTEST_SKIP() << "needs ../shared/captures (or LLMPROF_CAPTURES), which is not here"; \
  }                                                                                      \
  const std::filesystem::path& folder = *folder##_or_none
