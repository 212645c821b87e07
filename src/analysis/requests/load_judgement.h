#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/units.h"
#include "profile/requests.h"

// Whether a server kept up with its requests, and when the load was steady.
namespace llmprof::analysis {

// A request that was sent, in the order of sending.
struct SentRequest {
  Nanoseconds sent = 0;
  Nanoseconds end = 0;
  std::optional<Nanoseconds> ttft;
};

// Requests in flight from `time` until the next element's.
struct ConcurrencyChange {
  Nanoseconds time = 0;
  uint64_t requests = 0;
};
std::vector<ConcurrencyChange> concurrency_of(std::span<const SentRequest> requests);

// Over-saturated: requests in flight and time to first token both grow while requests are sent, as
// a t-test over means of equal parts of that time shows, and they grow by more than the randomness
// of arrivals explains. Short: too few requests for the test.
profile::LoadVerdict judge_load(std::span<const SentRequest> requests);

// When the requests in flight first reach their median over the middle half of the time in which
// requests were sent; none if that is at the first request.
std::optional<Nanoseconds> end_of_ramp_up(std::span<const SentRequest> requests,
                                          std::span<const ConcurrencyChange> concurrency);

}  // namespace llmprof::analysis
