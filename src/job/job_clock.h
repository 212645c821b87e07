#pragma once

#include <cmath>

#include "base/units.h"
#include "profile/job.h"

namespace llmprof::job {

// Converts times of one rank's capture to the job's clock; a default-constructed clock changes
// nothing. Convert both ends of an interval, so that intervals that do not overlap on the rank do
// not overlap in the file.
class JobClock {
 public:
  JobClock() = default;
  explicit JobClock(const profile::RankClock& clock)
      : offset_(clock.offset_ns.value), drift_(clock.drift_ppm / kPartsPerMillion) {}

  [[nodiscard]] Nanoseconds job_time(Nanoseconds time) const {
    const Nanoseconds moved = time + offset_;
    return drift_ == 0 ? moved : moved + std::llround(drift_ * static_cast<double>(time));
  }

  // The same clock, `by` later.
  [[nodiscard]] JobClock later(Nanoseconds by) const {
    JobClock clock = *this;
    clock.offset_ += by;
    return clock;
  }

 private:
  static constexpr double kPartsPerMillion = 1e6;

  Nanoseconds offset_ = 0;
  double drift_ = 0;  // ns per ns
};

}  // namespace llmprof::job
