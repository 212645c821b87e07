#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/progress.h"

namespace llmprof::session {

// Wall time of one part of an analysis: reading an input, a pass, writing. Parts that ran
// concurrently overlap.
struct PartTiming {
  std::string name;
  std::chrono::nanoseconds time{0};
  std::optional<std::string> skipped = std::nullopt;  // why it did not run
};

// Starts when it is constructed.
class Stopwatch {
 public:
  [[nodiscard]] std::chrono::nanoseconds elapsed() const { return Clock::now() - begun_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begun_ = Clock::now();
};

// Does a part of the work, shows it as progress and times it as `name`.
template <class Work>
auto timed(const std::string& name, Progress& progress, std::vector<PartTiming>& timings,
           Work&& work) {
  progress.begin(name);
  const Stopwatch watch;
  auto done = std::forward<Work>(work)();
  timings.push_back({name, watch.elapsed()});
  return done;
}

}  // namespace llmprof::session
