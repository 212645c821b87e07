#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace llmprof::testing {

// The folder of large captures next to the checkout (`../shared/captures`), or the one that the
// environment variable LLMPROF_CAPTURES names; nullopt if it does not exist.
std::optional<std::filesystem::path> shared_captures();

// A capture of this repository, in tests/data.
std::filesystem::path test_data(std::string_view name);

// The complete captures of tests/data/h200-captures, unpacked by the build: h200-llama-eager,
// h200-dense-graph, h200-hf.
std::filesystem::path h200_captures();

}  // namespace llmprof::testing

// Skips a test with a message if the large captures are missing. For suites whose name starts with
// SharedCaptures: those of a module are one entry of ctest.
#define LLMPROF_NEEDS_SHARED_CAPTURES(folder)                                            \
  const auto folder##_or_none = llmprof::testing::shared_captures();                     \
  if (!folder##_or_none) {                                                               \
    GTEST_SKIP() << "needs ../shared/captures (or LLMPROF_CAPTURES), which is not here"; \
  }                                                                                      \
  const std::filesystem::path& folder = *folder##_or_none
