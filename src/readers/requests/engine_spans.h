#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "readers/requests/otlp_span.h"
#include "readers/requests/request_rows.h"

namespace llmprof::readers {

// vLLM's span of a whole request is named so.
inline constexpr std::string_view kVllmRequestSpan = "llm_request";

// The request that vLLM's span describes.
RequestRow vllm_request(const OtlpSpan& span);

// Spans of SGLang: a request's own has its id; below it are spans of threads, and below these what
// the threads did with the request. A span is exported when it ends: children come first.
class SglangSpans {
 public:
  void add(const OtlpSpan& span);

  struct Requests {
    std::vector<RequestRow> rows;   // in the order of their ends
    bool has_decode_steps = false;  // level 3: a time for each token
    uint64_t without_request = 0;   // spans of a request's work without the request itself
  };
  Requests find_requests();

 private:
  enum class Work : uint8_t { request, waiting, prefill, decode_step, other };
  struct Piece {
    uint64_t parent = 0;
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    uint64_t decode_step = trace::kNoCount;
    Work work = Work::other;
    uint32_t request = 0;  // row in requests_, if it is a request itself
  };
  // What is known of a request besides its row.
  struct Progress {
    Nanoseconds first_step = trace::kNoTime;
    Nanoseconds prefilled = trace::kNoTime;
    std::unordered_map<uint64_t, Nanoseconds> decoded;  // by step: when it ended
  };

  static Work work_of(std::string_view name);
  void add_work(const Piece& piece, std::vector<Progress>& progress, Requests& found) const;
  static void finish(Progress& progress, RequestRow& row);

  std::vector<Piece> pieces_;
  std::unordered_map<uint64_t, size_t> by_id_;
  std::vector<RequestRow> requests_;
};

}  // namespace llmprof::readers
