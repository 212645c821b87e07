#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "trace/builder.h"
#include "trace/requests.h"

// What the readers of requests share: rows of requests with their chunks, checked and counted.
namespace llmprof::readers {

// Larger files are refused: their text would be kept in memory.
inline constexpr size_t kLargestRequestsFile = 2UL << 30U;

// A piece of an answer.
struct RequestChunk {
  Nanoseconds time = 0;
  uint32_t tokens = 0;
};

// A request as its file states it. What the file does not state stays as it is here.
struct RequestRow {
  std::string id;  // empty: none
  Nanoseconds scheduled = trace::kNoTime;
  Nanoseconds sent = trace::kNoTime;
  Nanoseconds end = trace::kNoTime;
  Nanoseconds first_token = trace::kNoTime;
  Nanoseconds queued = trace::kNoTime;  // a duration, from `sent`
  uint64_t prompt_tokens = trace::kNoCount;
  uint64_t output_tokens = trace::kNoCount;
  uint64_t cached_tokens = trace::kNoCount;
  trace::RequestStatus status = trace::RequestStatus::completed;
  bool warm_up = false;
  std::vector<RequestChunk> chunks;

  void clear() {
    std::vector<RequestChunk> kept = std::move(chunks);
    kept.clear();
    *this = {};
    chunks = std::move(kept);
  }
};

// A time in seconds as nanoseconds; kNoTime if it is not finite or out of range.
Nanoseconds nanoseconds_of_seconds(double seconds);

// `time` plus a duration; kNoTime if one of them is. A sum out of range is the largest time, which
// no request may have.
Nanoseconds time_after(Nanoseconds time, Nanoseconds duration);

// Adds the requests of one file to a trace. The capture begins with the first valid request, so a
// file without one leaves the trace as it was.
class RequestRows {
 public:
  RequestRows(const std::filesystem::path& path, trace::TraceBuilder& builder);

  // What the file says about its load; may be changed until `finish`.
  [[nodiscard]] trace::RequestFile& file() { return file_; }
  // Unix time at time 0 of the file's clock.
  void set_wall_clock(int64_t unix_ns) { wall_clock_ns_ = unix_ns; }
  // Who measured the requests; the version may be unknown.
  void set_tool(std::string_view name, std::string_view version) {
    tool_ = name;
    tool_version_ = version;
  }

  // Adds the request, which it may sort; refuses it if its times contradict each other.
  void add(RequestRow& row);
  // Counts a request that is not even an object with known types. `line`: where it is, from 1; 0:
  // not known.
  void refuse(uint64_t line = 0) {
    ++seen_;
    if (++refused_ == 1) first_refused_ = line;
  }
  // Says that the content ended early; `why` completes "the file is cut off (...)".
  void note_cut(std::string_view why) { cut_ = why; }
  // NaN and infinities in place of numbers.
  void note_non_finite(uint64_t count) { non_finite_ += count; }
  // The first requests of the file were sent to warm up.
  void mark_warm_up(uint64_t first_requests);

  // Reports what was counted. Fails if the file has no valid request.
  Result<void> finish();

 private:
  void begin();
  static bool is_consistent(const RequestRow& row);
  bool is_repeated(const RequestRow& row, trace::StringId id);
  void put_in_order(RequestRow& row);
  void complete_tokens(RequestRow& row);
  [[nodiscard]] std::string message(std::string_view text) const;

  std::string path_;
  std::string tool_;
  trace::TraceBuilder& builder_;
  trace::RequestFile file_;
  std::optional<int64_t> wall_clock_ns_;
  std::string tool_version_;
  bool begun_ = false;
  uint32_t file_row_ = 0;
  size_t first_request_ = 0;
  uint64_t seen_ = 0;                                     // requests in the file so far
  std::vector<uint64_t> places_;                          // of the added ones, in the file
  std::unordered_map<trace::StringId, size_t> first_of_;  // row of the first with an id
  uint64_t refused_ = 0;
  uint64_t first_refused_ = 0;  // its line; 0: not known
  uint64_t contradicting_ = 0;
  uint64_t repeated_ = 0;
  uint64_t same_ids_ = 0;
  uint64_t sorted_ = 0;
  uint64_t ends_early_ = 0;
  uint64_t sent_early_ = 0;
  uint64_t fewer_tokens_ = 0;  // in chunks than stated
  uint64_t more_tokens_ = 0;
  uint64_t non_finite_ = 0;
  std::string cut_;
};

}  // namespace llmprof::readers
