#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"

namespace llmprof::load {

enum class RequestStatus : uint8_t {
  completed,
  failed,     // no answer, or an error
  cut,        // the answer broke off
  cancelled,  // by us: interrupted, or not complete in time
};
std::string_view word_of(RequestStatus status);

// One request as it went. Times are CLOCK_MONOTONIC in ns.
struct RequestRecord {
  uint64_t id = 0;
  int64_t scheduled_ns = 0;
  std::optional<int64_t> sent_ns;  // its last byte was handed to the socket
  int64_t connect_ns = 0;          // waited for a new connection before; 0: one was open
  struct Chunk {
    int64_t arrival_ns = 0;
    uint64_t tokens = 0;
  };
  std::vector<Chunk> chunks;  // those with tokens
  std::optional<int64_t> end_ns;
  std::optional<uint64_t> prompt_tokens;
  uint64_t max_tokens = 0;
  std::optional<uint64_t> output_tokens;
  std::optional<uint64_t> cached_tokens;
  RequestStatus status = RequestStatus::failed;
  std::string error;    // empty: none
  std::string timings;  // JSON of llama-server's own times; empty: none
  bool resent = false;
};

// The JSON object of a request in the record.
std::string json_of(const RequestRecord& request);

// Members of the record besides its requests: name and JSON value.
using RecordFields = std::vector<std::pair<std::string, std::string>>;

// Writes the record of a load (requests.json) while it runs: requests in the order of their ids, by
// a thread of its own, because a disk may make its writer wait. The file has its name only once it
// is complete; until then it is NAME.partial.
class RecordWriter {
 public:
  // Called for every request, on the writer's thread.
  using OnWritten = std::function<void(const RequestRecord&)>;

  static Result<std::unique_ptr<RecordWriter>> open(const std::filesystem::path& path,
                                                    const RecordFields& head, OnWritten seen);
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;
  ~RecordWriter();

  void add(RequestRecord request);
  // Writes what is known only at the end, and gives the file its name.
  Result<void> finish(const RecordFields& tail);

 private:
  RecordWriter(std::filesystem::path path, std::filesystem::path partial, int descriptor,
               OnWritten seen);
  void write_until_done();
  void put(std::string_view text);

  std::filesystem::path path_;
  std::filesystem::path partial_;
  int descriptor_;
  OnWritten seen_;
  int error_number_ = 0;
  bool is_first_ = true;
  std::map<uint64_t, RequestRecord> waiting_;  // for one with a lower id
  uint64_t next_id_ = 0;

  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<RequestRecord> added_;
  bool is_done_ = false;
  std::thread thread_;
};

// The text as a JSON string.
std::string json_text(std::string_view text);

}  // namespace llmprof::load
