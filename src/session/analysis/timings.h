#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace llmprof::session {

// How long a part of an analysis took on the wall clock: reading an input, a pass, writing. Parts
// that ran concurrently overlap.
struct PartTiming {
  std::string name;
  std::chrono::nanoseconds time{0};
  std::optional<std::string> skipped = std::nullopt;  // why it did not run
};

// Runs from its making on.
class Stopwatch {
 public:
  [[nodiscard]] std::chrono::nanoseconds elapsed() const { return Clock::now() - begun_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begun_ = Clock::now();
};

}  // namespace llmprof::session
