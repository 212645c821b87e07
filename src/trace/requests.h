#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/units.h"
#include "trace/ids.h"

namespace llmprof::trace {

inline constexpr Nanoseconds kNoTime = INT64_MIN;
inline constexpr uint64_t kNoCount = UINT64_MAX;

// Who measured requests. Each measures from other moments, and names its figures differently.
enum class RequestSource : uint8_t {
  llmprof,
  vllm_bench,
  sglang_bench,
  sglang_server,  // the engine's request-metrics log
  aiperf,
  guidellm,
  genai_perf,
  vllm_spans,
  sglang_spans,
  transformers,  // the engine's own timestamps
};

// What the times of a file of requests count from.
enum class RequestClock : uint8_t {
  monotonic,  // CLOCK_MONOTONIC of the client's host
  wall,       // Unix time
  none,       // each request starts at 0: the file cannot be joined to a capture
};

enum class RequestStatus : uint8_t {
  completed,
  failed,     // refused, or answered with an error
  cut,        // broke off after it was sent
  cancelled,  // by the client
};

// Requests of a client, in the order of their files. Times are on the clock of their file
// (RequestFile); kNoTime: not recorded.
struct RequestTable {
  std::vector<uint32_t> file;           // row of Trace::request_files
  std::vector<StringId> id;             // the file's own; none: its index in the file
  std::vector<Nanoseconds> scheduled;   // when the load wanted to send it
  std::vector<Nanoseconds> sent;        // for an engine's own record: when it was received
  std::vector<Nanoseconds> end;         // of the answer
  std::vector<uint64_t> prompt_tokens;  // kNoCount: not recorded
  std::vector<uint64_t> output_tokens;  // kNoCount: not recorded
  std::vector<uint64_t> cached_tokens;  // of the prompt, from a prefix cache; kNoCount
  std::vector<RequestStatus> status;
  std::vector<uint32_t> first_chunk;     // row of `chunks`; its last is before the next request's
  std::vector<Nanoseconds> first_token;  // if stated without chunks, otherwise its first chunk's
  std::vector<Nanoseconds> queued;       // engine's own: time until its first step; kNoTime
  std::vector<bool> warm_up;             // sent to warm up: no statistics; empty if none is

  [[nodiscard]] size_t size() const { return sent.size(); }
  auto columns() {
    return std::tie(file, id, scheduled, sent, end, prompt_tokens, output_tokens, cached_tokens,
                    status, first_chunk, first_token, queued, warm_up);
  }
};

// Pieces of answers, by request and time of arrival.
struct ChunkTable {
  std::vector<Nanoseconds> time;
  std::vector<uint32_t> tokens;  // 0: a piece without any (the last one, or a role)

  [[nodiscard]] size_t size() const { return time.size(); }
  auto columns() { return std::tie(time, tokens); }
};

// A file of requests.
struct RequestFile {
  CaptureId capture;
  RequestSource source = RequestSource::llmprof;
  RequestClock clock = RequestClock::none;
  std::string boot_id;    // of the client's host; empty: not stated
  std::string id_prefix;  // before the file's ids, in those that the client sent to the server
  bool chunks_complete = true;  // false: the file has no time for each token
  // The load: "poisson", "constant", "replay", "closed"; empty: not stated.
  std::string arrivals;
  double rate = 0;                   // requests per second; 0: not stated, or unlimited
  uint64_t concurrency = 0;          // 0: not stated, or unlimited
  Nanoseconds ttft_limit = kNoTime;  // objectives that the load was run with
  Nanoseconds itl_limit = kNoTime;
  Nanoseconds tpot_limit = kNoTime;
  Nanoseconds e2e_limit = kNoTime;
  // Aggregates as the file states them, by its names ("mean_ttft_ms").
  std::vector<std::pair<std::string, double>> stated;
};

}  // namespace llmprof::trace
