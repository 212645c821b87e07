#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace llmprof::query {

// What one statement may take.
struct Limits {
  uint64_t rows = 10'000;               // in the answer
  uint64_t bytes = 16 << 20;            // of the texts and numbers in the answer
  uint64_t memory = uint64_t{1} << 30;  // of SQLite, besides the captures
  std::chrono::milliseconds time{30'000};
  const std::atomic<bool>* cancelled = nullptr;  // checked all the time; may be null
};

// Longest statement, in bytes.
inline constexpr int kLongestStatement = 100'000;
// Longest value that a statement may make, in bytes: no function works on it for seconds.
inline constexpr int kLongestValue = 300'000;

}  // namespace llmprof::query
