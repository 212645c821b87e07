#pragma once

#include <cstdint>

namespace llmprof::collector {

// Counters, while they are set up, make a GPU draw more power, and small kernels behind a gap take
// up to 2.5 % more or less time (docs/measurements.md). So they are sampled for some requests and
// rest for three times as long: a kernel's total stays within 1 % of what it is without them. The
// first round has two whole requests, because one may be a warm-up. A program that tells of no
// requests is sampled all the time. For one thread; times in ns.
class CounterRounds {
 public:
  // `requests`: begun so far.
  [[nodiscard]] bool wants_samples(int64_t now, uint64_t requests) {
    if (!sampling_ && now < rest_until_) return false;
    if (!sampling_) begin(requests);
    if (requests == requests_before_) return true;
    if (first_request_ == kNone) first_request_ = now;
    const int64_t sampled = now - first_request_;
    // The one that is open now is not whole.
    const uint64_t whole = requests - requests_before_ - 1;
    if (sampled < kLongest && (whole < wanted_requests_ || sampled < kShortest)) return true;
    sampling_ = false;
    wanted_requests_ = 1;
    rest_until_ = now + kRestOfRound * sampled;
    return false;
  }

 private:
  static constexpr int64_t kNone = INT64_MIN;
  static constexpr int64_t kShortest = 250'000'000;
  static constexpr int64_t kLongest = 10'000'000'000;
  static constexpr int64_t kRestOfRound = 3;

  void begin(uint64_t requests) {
    sampling_ = true;
    requests_before_ = requests;
    first_request_ = kNone;
  }

  bool sampling_ = false;
  int64_t rest_until_ = INT64_MIN;
  uint64_t requests_before_ = 0;
  int64_t first_request_ = kNone;
  uint64_t wanted_requests_ = 2;
};

}  // namespace llmprof::collector
