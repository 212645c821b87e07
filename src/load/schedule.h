#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace llmprof::load {

// A number of tokens, drawn uniformly from `least` to `most` for each request.
struct TokenRange {
  uint64_t least = 0;
  uint64_t most = 0;
};
// "512" or "128:1024".
Result<TokenRange> parse_token_range(std::string_view text, std::string_view option);

enum class Arrivals : uint8_t {
  poisson,   // exponential gaps
  constant,  // equal gaps
  replay,    // the times of a file
  closed,    // the next request follows an answer: a fixed number is open
};
std::string_view word_of(Arrivals arrivals);

struct PlannedRequest {
  int64_t at_ns = 0;  // from the begin of the load; of no meaning in a closed loop
  uint64_t prompt_tokens = 0;
  uint64_t new_tokens = 0;
  // Mooncake's ids of the prompt's blocks of 512 tokens: equal ids are equal text, which a prefix
  // cache finds.
  std::vector<uint64_t> blocks;
};

struct ScheduleWish {
  Arrivals arrivals = Arrivals::closed;
  double rate = 0;  // requests per second, for Poisson and constant arrivals
  size_t requests = 0;
  std::optional<int64_t> duration_ns;  // nothing arrives later
  TokenRange prompt_tokens;
  TokenRange new_tokens;
  uint64_t seed = 0;
};

// The same for the same wish on every machine. Without arrivals of its own (closed loop), it is the
// order of the requests.
std::vector<PlannedRequest> make_schedule(const ScheduleWish& wish);

// The times of a replayed file, from its first request on, divided by `speed`, and limited to
// `requests` and `duration`.
std::vector<PlannedRequest> fitted(std::vector<PlannedRequest> replayed, double speed,
                                   std::optional<size_t> requests,
                                   std::optional<int64_t> duration_ns);

}  // namespace llmprof::load
