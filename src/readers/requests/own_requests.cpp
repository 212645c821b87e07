#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "readers/requests/object_array.h"
#include "readers/requests/request_rows.h"
#include "readers/shared/json_text.h"
#include "readers/shared/reader.h"

namespace llmprof::readers {
namespace {

namespace dom = simdjson::dom;
using trace::RequestStatus;

constexpr std::string_view kOwnRequestsFormat = "llmprof requests";
constexpr std::string_view kRequestsKey = "requests";
constexpr uint64_t kOwnRequestsVersion = 1;
constexpr std::array<std::string_view, 11> kHeaderKeys = {
    "format", "version",     "clock", "boot_id",          "wall_clock_ns", "arrivals",
    "rate",   "concurrency", "slo",   "warm_up_requests", "id_prefix"};
constexpr std::string_view kMonotonicClock = "CLOCK_MONOTONIC";
constexpr std::string_view kWallClock = "CLOCK_REALTIME";

std::string_view without_quotes(std::string_view json) {
  json = trim(json);
  const bool quoted = json.size() >= 2 && json.starts_with('"') && json.ends_with('"');
  return quoted ? json.substr(1, json.size() - 2) : json;
}

bool recognizes_own_requests(std::string_view head) {
  JsonEnvelope object(kRequestsKey, kHeaderKeys);
  object.take(head);
  if (without_quotes(object.value("format")) == kOwnRequestsFormat) return true;
  return object.in_array() && contains(object.value("clock"), kMonotonicClock);
}

// One request's object. Times have their unit in the key: nanoseconds of a client, or seconds of
// transformers' own timestamps.
class OwnRequest {
 public:
  // False if a known key has a value of another type.
  static bool read(dom::object object, RequestRow& row) { return OwnRequest(row).take_all(object); }

 private:
  explicit OwnRequest(RequestRow& row) : row_(row) { row_.clear(); }

  bool take_all(dom::object object) {
    for (const auto [key, value] : object) {
      if (!value.is_null() && !take(key, value)) return false;
    }
    const bool ended = row_.end != trace::kNoTime || finished_;
    const RequestStatus status = status_.value_or(RequestStatus::completed);
    row_.status = status == RequestStatus::completed && !ended ? RequestStatus::cut : status;
    if (first_step_ && row_.sent != trace::kNoTime && *first_step_ >= row_.sent) {
      row_.queued = *first_step_ - row_.sent;
    }
    return true;
  }

  bool take(std::string_view key, dom::element value) {
    if (key == "id") return take_id(value);
    if (key == "status") return take_status(value);
    if (key == "chunks") return take_chunks(value);
    if (key == "timestamps") return take_timestamps(value);
    if (key == "lifespan") return take_lifespan(value);
    if (key == "scheduled_ns") return take_time(value, row_.scheduled);
    if (key == "sent_ns") return take_time(value, row_.sent);
    if (key == "end_ns") return take_time(value, row_.end);
    if (key == "submitted_s") return take_seconds(value, row_.sent);
    if (key == "received_s") return take_seconds(value, row_.end);
    if (key == "prompt_tokens") return take_count(value, row_.prompt_tokens);
    if (key == "cached_tokens") return take_count(value, row_.cached_tokens);
    if (key == "output_tokens" || key == "tokens_predicted" || key == "tokens") {
      return take_count(value, row_.output_tokens);
    }
    if (key == "warm_up") return value.get(row_.warm_up) == simdjson::SUCCESS;
    if (key == "timings") take_timings(value);
    return true;
  }

  static bool take_time(dom::element value, Nanoseconds& time) {
    return value.get(time) == simdjson::SUCCESS && time >= 0;
  }

  static bool take_seconds(dom::element value, Nanoseconds& time) {
    double seconds = 0;
    if (value.get(seconds) != simdjson::SUCCESS) return false;
    time = nanoseconds_of_seconds(seconds);
    return time >= 0;
  }

  static bool take_count(dom::element value, uint64_t& count) {
    return value.get(count) == simdjson::SUCCESS && count != trace::kNoCount;
  }

  bool take_id(dom::element value) {
    std::string_view text;
    int64_t number = 0;
    if (value.get(text) == simdjson::SUCCESS) {
      row_.id = to_printable(text);
    } else if (value.get(number) == simdjson::SUCCESS) {
      row_.id = std::to_string(number);
    }
    return !row_.id.empty();
  }

  // A word, or the number of an HTTP response.
  bool take_status(dom::element value) {
    constexpr std::array<std::pair<std::string_view, RequestStatus>, 4> kWords = {
        {{"completed", RequestStatus::completed},
         {"failed", RequestStatus::failed},
         {"cut", RequestStatus::cut},
         {"cancelled", RequestStatus::cancelled}}};
    constexpr int64_t kFirstSuccess = 200;
    constexpr int64_t kFirstRedirection = 300;
    int64_t number = 0;
    if (value.get(number) == simdjson::SUCCESS) {
      const bool answered = number >= kFirstSuccess && number < kFirstRedirection;
      status_ = answered ? RequestStatus::completed : RequestStatus::failed;
      return true;
    }
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return false;
    const auto* known =
        std::ranges::find(kWords, text, [](const auto& word) { return word.first; });
    if (known == kWords.end()) return false;
    status_ = known->second;
    return true;
  }

  bool take_chunks(dom::element value) {
    dom::array chunks;
    if (value.get(chunks) != simdjson::SUCCESS) return false;
    for (const dom::element piece : chunks) {
      dom::array pair;
      if (piece.get(pair) != simdjson::SUCCESS || pair.size() != 2) return false;
      RequestChunk& chunk = row_.chunks.emplace_back();
      uint64_t tokens = 0;
      auto number = pair.begin();
      if (!take_time(*number, chunk.time)) return false;
      ++number;
      if (!take_count(*number, tokens) || tokens > UINT32_MAX) return false;
      chunk.tokens = static_cast<uint32_t>(tokens);
    }
    return true;
  }

  bool take_timestamps(dom::element value) {
    dom::array times;
    if (value.get(times) != simdjson::SUCCESS) return false;
    for (const dom::element time : times) {
      if (!take_seconds(time, row_.chunks.emplace_back().time)) return false;
      row_.chunks.back().tokens = 1;
    }
    return true;
  }

  // The request's first step and its last one; negative: it had none.
  bool take_lifespan(dom::element value) {
    dom::array times;
    double first = 0;
    double last = 0;
    if (value.get(times) != simdjson::SUCCESS || times.size() != 2) return false;
    if (times.at(0).get(first) != simdjson::SUCCESS) return false;
    if (times.at(1).get(last) != simdjson::SUCCESS) return false;
    if (first >= 0) first_step_ = nanoseconds_of_seconds(first);
    finished_ = last >= 0;
    return true;
  }

  // llama-server's own measurements.
  void take_timings(dom::element value) {
    dom::element cached;
    if (value["cache_n"].get(cached) == simdjson::SUCCESS) take_count(cached, row_.cached_tokens);
  }

  RequestRow& row_;
  std::optional<RequestStatus> status_;
  std::optional<Nanoseconds> first_step_;
  bool finished_ = false;
};

class OwnRequestsFile {
 public:
  OwnRequestsFile(const std::filesystem::path& path, trace::TraceBuilder& builder)
      : path_(path.string()), rows_(path, builder) {}

  Result<void> read(const PaddedText& content) {
    const std::string_view text = content.text();
    JsonEnvelope envelope(kRequestsKey, kHeaderKeys);
    size_t at = envelope.take(text);
    if (!envelope.in_array()) {
      return fail_input(fmt::format("{}: it has no array `requests`{}; run the load again", path_,
                                    envelope.complete() ? "" : " before it is cut off"));
    }
    at = find_objects(text, at, requests_);
    envelope.leave_array();
    envelope.take(text.substr(at));
    if (!envelope.complete()) {
      rows_.note_cut(content.damage().empty() ? "its JSON object is not closed" : content.damage());
    }
    if (auto known = take_header(envelope); !known) return known;
    for (const std::string_view request : requests_) take_request(request);
    rows_.note_non_finite(objects_.non_finite());
    rows_.mark_warm_up(count_of(envelope, "warm_up_requests").value_or(0));
    return rows_.finish();
  }

 private:
  void take_request(std::string_view json) {
    const auto object = objects_.parse(json);
    if (object && OwnRequest::read(*object, row_)) {
      rows_.add(row_);
    } else {
      rows_.refuse();
    }
  }

  Result<void> take_header(const JsonEnvelope& envelope) {
    const uint64_t version = count_of(envelope, "version").value_or(kOwnRequestsVersion);
    if (version != kOwnRequestsVersion) {
      return fail_input(fmt::format(
          "{}: requests in format version {}; this llmprof reads version {}: use the llmprof that "
          "wrote it",
          path_, version, kOwnRequestsVersion));
    }
    trace::RequestFile& file = rows_.file();
    const std::string_view clock = envelope.value("clock");
    if (contains(clock, kMonotonicClock)) file.clock = trace::RequestClock::monotonic;
    if (contains(clock, kWallClock)) file.clock = trace::RequestClock::wall;
    const bool of_transformers = contains(clock, "perf_counter");
    file.source =
        of_transformers ? trace::RequestSource::transformers : trace::RequestSource::llmprof;
    rows_.set_tool(of_transformers ? "transformers" : "llmprof load", {});
    file.boot_id = text_of(envelope, "boot_id");
    file.id_prefix = text_of(envelope, "id_prefix");
    file.arrivals = text_of(envelope, "arrivals");
    file.rate = std::max(0.0, number_of(envelope.value("rate")).value_or(0));
    file.concurrency = count_of(envelope, "concurrency").value_or(0);
    if (const auto unix_time = count_of(envelope, "wall_clock_ns")) {
      rows_.set_wall_clock(static_cast<int64_t>(std::min<uint64_t>(*unix_time, INT64_MAX)));
    }
    take_objectives(envelope.value("slo"));
    return {};
  }

  void take_objectives(std::string_view json) {
    dom::object slo;
    if (parser_.parse(simdjson::padded_string(json)).get(slo) != simdjson::SUCCESS) return;
    const auto limit = [&](std::string_view key, Nanoseconds& into) {
      double milliseconds = 0;
      if (slo[key].get(milliseconds) != simdjson::SUCCESS || milliseconds < 0) return;
      into = nanoseconds_of_seconds(milliseconds / kMillisecondsPerSecond);
    };
    limit("ttft_ms", rows_.file().ttft_limit);
    limit("itl_ms", rows_.file().itl_limit);
    limit("tpot_ms", rows_.file().tpot_limit);
    limit("e2e_ms", rows_.file().e2e_limit);
  }

  std::optional<double> number_of(std::string_view json) {
    double number = 0;
    if (parser_.parse(simdjson::padded_string(json)).get(number) != simdjson::SUCCESS) return {};
    return number;
  }

  std::optional<uint64_t> count_of(const JsonEnvelope& envelope, std::string_view key) {
    uint64_t count = 0;
    const simdjson::padded_string json(envelope.value(key));
    if (parser_.parse(json).get(count) != simdjson::SUCCESS) return {};
    return count;
  }

  std::string text_of(const JsonEnvelope& envelope, std::string_view key) {
    std::string_view text;
    const simdjson::padded_string json(envelope.value(key));
    if (parser_.parse(json).get(text) != simdjson::SUCCESS) return {};
    return to_printable(text);
  }

  std::string path_;
  RequestRows rows_;
  dom::parser parser_;
  std::vector<std::string_view> requests_;  // their JSON; empty: not an object
  ObjectParser objects_;
  RequestRow row_;
};

Result<void> read_own_requests(const std::filesystem::path& path, trace::TraceBuilder& builder) {
  const auto content = PaddedText::read(path);
  if (!content) return fail_with(content.error());
  return OwnRequestsFile(path, builder).read(*content);
}

}  // namespace

const Reader kOwnRequestsReader = {kOwnRequestsFormat, recognizes_own_requests, read_own_requests};

}  // namespace llmprof::readers
