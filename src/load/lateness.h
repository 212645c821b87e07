#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmprof::load {

// How late the generator itself was: sent minus scheduled, less the time that a new connection
// took, in ns. Percentiles by nearest rank.
struct Lateness {
  int64_t p50_ns = 0;
  int64_t p99_ns = 0;
  int64_t max_ns = 0;
};

// None of no request. `lateness` is in the order of sending.
std::optional<Lateness> measure_lateness(std::vector<int64_t> lateness);

// Why a load was not held, with what to do; none if it was. `mean_gap_ns` is that of the schedule.
// It was not held if p99 is above 1 ms and above 10 % of the mean gap, or if half of the last tenth
// of all requests were: it fell behind.
std::optional<std::string> why_not_held(const std::vector<int64_t>& lateness, double mean_gap_ns);

}  // namespace llmprof::load
