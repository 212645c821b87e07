#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "profile/requests.h"
#include "trace/trace.h"

// Times of single requests, by the definitions of docs/requests.md.
namespace llmprof::analysis {

// Rows of Trace::chunks.
struct ChunkRows {
  size_t first = 0;
  size_t last = 0;  // after the last
};
ChunkRows chunks_of(const trace::Trace& trace, size_t request);

bool is_warm_up(const trace::Trace& trace, size_t request);
// Completed, and not sent to warm up: part of the statistics.
bool is_counted(const trace::Trace& trace, size_t request);

// The last time that is known of a request; kNoTime if there is none.
Nanoseconds last_time(const trace::Trace& trace, size_t request);

// None: the file does not have what it takes.
struct RequestTimesOfOne {
  std::optional<Nanoseconds> client_delay;
  std::optional<Nanoseconds> ttft;
  std::optional<Nanoseconds> e2e;  // of completed requests
  std::optional<double> tpot;      // nanoseconds
  std::optional<Nanoseconds> longest_gap;
};
RequestTimesOfOne times_of_request(const trace::Trace& trace, size_t request);

// A time that counts several times.
struct WeightedTime {
  double nanoseconds = 0;
  uint64_t count = 1;
};

// Appends the inter-token latencies of a request: a gap before a chunk of n tokens counts as n
// times the gap over n.
void add_token_latencies(const trace::Trace& trace, size_t request,
                         std::vector<WeightedTime>& latencies);

// Percentiles by nearest rank.
profile::RequestTimes summarize_times(std::vector<WeightedTime> times);

}  // namespace llmprof::analysis
