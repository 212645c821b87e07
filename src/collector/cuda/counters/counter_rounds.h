#pragma once

#include <cstdint>

namespace llmprof::collector {

// Memory placement changes kernel times by some percent, and CUPTI's buffers shift later
// allocations (docs/measurements.md). Counters are therefore enabled once the program has allocated
// its memory: at its first request, or when it has allocated nothing for a while. For one thread;
// times in ns.
class CounterStart {
 public:
  // Called when CUPTI is attached.
  void begin(int64_t now) { began_ = now; }

  // At once without rounds: a detach may follow soon, and would wait for counters to be enabled.
  [[nodiscard]] bool is_due(int64_t now, bool in_rounds, uint64_t requests,
                            int64_t last_allocation) {
    due_ = due_ || !in_rounds || requests > 0 || now - last_allocation >= kNoAllocation ||
           now - began_ >= kLongestWait;
    return due_;
  }

 private:
  static constexpr int64_t kNoAllocation = 1'000'000'000;
  static constexpr int64_t kLongestWait = 5'000'000'000;  // a program may never stop allocating

  int64_t began_ = 0;
  bool due_ = false;
};

// While counters are enabled a GPU draws more power, and small kernels after a gap take up to 2.5 %
// more or less time (docs/measurements.md). Counters are therefore sampled for some requests and
// then paused for three times as long. The first round covers two complete requests, because one
// may be a warm-up. A program without request ranges is sampled continuously. For one thread; times
// in ns.
class CounterRounds {
 public:
  // `requests`: started so far.
  [[nodiscard]] bool wants_samples(int64_t now, uint64_t requests) {
    if (!sampling_ && now < pause_until_) return false;
    if (!sampling_) begin(now, requests);
    if (requests == 0) {
      began_ = now;  // the round starts with the first request
      return true;
    }
    const int64_t sampled = now - began_;
    // The request that is open now is not complete.
    const bool has_whole = requests > requests_before_ + wanted_requests_;
    if (sampled < kLongest && (!has_whole || sampled < kShortest)) return true;
    sampling_ = false;
    wanted_requests_ = 1;
    pause_until_ = now + kPauseOfRound * sampled;
    return false;
  }

  // Samples come from now on: enabling counters takes a while, and a request may have started
  // meanwhile.
  void begin(int64_t now, uint64_t requests) {
    sampling_ = true;
    began_ = now;
    requests_before_ = requests;
  }

 private:
  static constexpr int64_t kShortest = 250'000'000;
  static constexpr int64_t kLongest = 10'000'000'000;
  static constexpr int64_t kPauseOfRound = 3;

  bool sampling_ = false;
  int64_t began_ = 0;
  int64_t pause_until_ = INT64_MIN;
  uint64_t requests_before_ = 0;
  uint64_t wanted_requests_ = 2;
};

}  // namespace llmprof::collector
