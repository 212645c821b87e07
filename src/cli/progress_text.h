#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace llmprof::cli {

// What is being done, at one moment.
struct ProgressState {
  enum class Unit : uint8_t { none, bytes, steps };
  std::string what;  // "reading trace.sqlite (nsys SQLite)"
  std::string step;  // the one under way, where it goes by steps
  size_t pass = 0;   // from 1; 0: there are no passes
  size_t passes = 0;
  Unit unit = Unit::none;
  uint64_t done = 0;
  uint64_t total = 0;
  std::chrono::milliseconds elapsed{0};  // since this work began
};

// One line, at most `width` columns: "llmprof: reading trace.sqlite (nsys SQLite): 42 %, 1.2 of 2.9
// GB, 3 s". What is being done is shortened in the middle where there is no room for all.
std::string progress_text(const ProgressState& state, size_t width);

}  // namespace llmprof::cli
