#include "analysis/requests/request_times.h"

#include <algorithm>
#include <cmath>

#include "base/quantiles.h"

namespace llmprof::analysis {
namespace {

using trace::kNoCount;
using trace::kNoTime;

std::optional<Nanoseconds> between(Nanoseconds from, Nanoseconds to) {
  if (from == kNoTime || to == kNoTime) return std::nullopt;
  return to - from;
}

// The last chunk with tokens; `last` of the rows if none has any.
size_t last_with_tokens(const trace::Trace& trace, ChunkRows chunks) {
  for (size_t i = chunks.last; i-- > chunks.first;) {
    if (trace.chunks.tokens[i] > 0) return i;
  }
  return chunks.last;
}

uint64_t tokens_of(const trace::Trace& trace, size_t request, ChunkRows chunks) {
  if (trace.requests.output_tokens[request] != kNoCount) {
    return trace.requests.output_tokens[request];
  }
  uint64_t tokens = 0;
  for (size_t i = chunks.first; i < chunks.last; ++i) tokens += trace.chunks.tokens[i];
  return tokens;
}

// Otherwise chunks may be only the ends of an answer, and the time between them is no gap.
bool has_each_token(const trace::Trace& trace, size_t request) {
  return trace.request_files[trace.requests.file[request]].chunks_complete;
}

// From the first to the last token, over the tokens after the first.
std::optional<double> time_per_token(const trace::Trace& trace, size_t request, ChunkRows chunks) {
  const uint64_t tokens = tokens_of(trace, request, chunks);
  if (tokens < 2) return std::nullopt;
  const size_t last = last_with_tokens(trace, chunks);
  // Without chunks, the end of the answer is the best that is known of the last token.
  const Nanoseconds end =
      last < chunks.last ? trace.chunks.time[last] : trace.requests.end[request];
  const auto time = between(trace.requests.first_token[request], end);
  if (!time) return std::nullopt;
  return static_cast<double>(*time) / static_cast<double>(tokens - 1);
}

// The smallest time that at least `fraction` of all do not exceed; times are in order.
double weighted_rank(const std::vector<WeightedTime>& times, uint64_t count, double fraction) {
  uint64_t before = 0;
  const uint64_t rank = nearest_rank_of(count, fraction);
  for (const WeightedTime& time : times) {
    before += time.count;
    if (before > rank) return time.nanoseconds;
  }
  return times.back().nanoseconds;
}

}  // namespace

ChunkRows chunks_of(const trace::Trace& trace, size_t request) {
  const std::vector<uint32_t>& first = trace.requests.first_chunk;
  const size_t last = request + 1 < first.size() ? first[request + 1] : trace.chunks.size();
  return {first[request], last};
}

bool is_warm_up(const trace::Trace& trace, size_t request) {
  const std::vector<bool>& warm_up = trace.requests.warm_up;
  return request < warm_up.size() && warm_up[request];
}

bool is_counted(const trace::Trace& trace, size_t request) {
  return trace.requests.status[request] == trace::RequestStatus::completed &&
         !is_warm_up(trace, request);
}

Nanoseconds last_time(const trace::Trace& trace, size_t request) {
  const ChunkRows chunks = chunks_of(trace, request);
  const Nanoseconds chunk =
      chunks.first < chunks.last ? trace.chunks.time[chunks.last - 1] : kNoTime;
  return std::max({trace.requests.end[request], trace.requests.first_token[request], chunk,
                   trace.requests.sent[request]});
}

RequestTimesOfOne times_of_request(const trace::Trace& trace, size_t request) {
  const trace::RequestTable& requests = trace.requests;
  const ChunkRows chunks = chunks_of(trace, request);
  RequestTimesOfOne times;
  const Nanoseconds sent = requests.sent[request];
  times.client_delay = between(requests.scheduled[request], sent);
  times.ttft = between(sent, requests.first_token[request]);
  times.tpot = time_per_token(trace, request, chunks);
  if (requests.status[request] == trace::RequestStatus::completed) {
    const size_t last = last_with_tokens(trace, chunks);
    const Nanoseconds last_token = last < chunks.last ? trace.chunks.time[last] : kNoTime;
    times.e2e =
        between(sent, requests.end[request] != kNoTime ? requests.end[request] : last_token);
  }
  if (!has_each_token(trace, request)) return times;
  Nanoseconds before = kNoTime;
  for (size_t i = chunks.first; i < chunks.last; ++i) {
    if (trace.chunks.tokens[i] == 0) continue;
    if (const auto gap = between(before, trace.chunks.time[i])) {
      times.longest_gap = std::max(times.longest_gap.value_or(0), *gap);
    }
    before = trace.chunks.time[i];
  }
  return times;
}

void add_token_latencies(const trace::Trace& trace, size_t request,
                         std::vector<WeightedTime>& latencies) {
  if (!has_each_token(trace, request)) return;
  const ChunkRows chunks = chunks_of(trace, request);
  Nanoseconds before = kNoTime;
  for (size_t i = chunks.first; i < chunks.last; ++i) {
    const uint32_t tokens = trace.chunks.tokens[i];
    if (tokens == 0) continue;
    if (const auto gap = between(before, trace.chunks.time[i])) {
      latencies.push_back({static_cast<double>(*gap) / tokens, tokens});
    }
    before = trace.chunks.time[i];
  }
}

profile::RequestTimes summarize_times(std::vector<WeightedTime> times) {
  profile::RequestTimes result;
  if (times.empty()) return result;
  std::ranges::sort(times, {}, &WeightedTime::nanoseconds);
  double sum = 0;
  for (const WeightedTime& time : times) {
    result.count += time.count;
    sum += time.nanoseconds * static_cast<double>(time.count);
  }
  const auto count = static_cast<double>(result.count);
  const double mean = sum / count;
  double squares = 0;
  for (const WeightedTime& time : times) {
    const double apart = time.nanoseconds - mean;
    squares += apart * apart * static_cast<double>(time.count);
  }
  constexpr double kP50 = 0.5;
  constexpr double kP90 = 0.9;
  constexpr double kP99 = 0.99;
  const auto rank = [&](double fraction) {
    return profile::to_milliseconds(weighted_rank(times, result.count, fraction));
  };
  result.mean = profile::to_milliseconds(mean);
  if (result.count > 1) result.std = profile::to_milliseconds(std::sqrt(squares / (count - 1)));
  result.min = profile::to_milliseconds(times.front().nanoseconds);
  result.p50 = rank(kP50);
  result.p90 = rank(kP90);
  result.p99 = rank(kP99);
  result.max = profile::to_milliseconds(times.back().nanoseconds);
  return result;
}

}  // namespace llmprof::analysis
