#include "readers/requests/request_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "readers/shared/reader.h"
#include "trace/append.h"

namespace llmprof::readers {
namespace {

using trace::kNoCount;
using trace::kNoTime;

// Differences of valid times do not overflow.
constexpr Nanoseconds kLatestTime = INT64_MAX / 4;

bool is_valid_time(Nanoseconds time) {
  return time == kNoTime || (time >= 0 && time <= kLatestTime);
}

bool is_before(Nanoseconds time, Nanoseconds other) {
  return time != kNoTime && other != kNoTime && time < other;
}

}  // namespace

Nanoseconds nanoseconds_of_seconds(double seconds) {
  const double nanoseconds = seconds * kNanosecondsPerSecond;
  const bool fits =
      std::isfinite(nanoseconds) && std::abs(nanoseconds) <= static_cast<double>(kLatestTime);
  return fits ? std::llround(nanoseconds) : kNoTime;
}

Nanoseconds time_after(Nanoseconds time, Nanoseconds duration) {
  if (time == kNoTime || duration == kNoTime) return kNoTime;
  Nanoseconds sum = 0;
  return __builtin_add_overflow(time, duration, &sum) ? INT64_MAX : sum;
}

RequestRows::RequestRows(const std::filesystem::path& path, trace::TraceBuilder& builder)
    : path_(path.string()), builder_(builder) {}

void RequestRows::add(RequestRow& row) {
  ++seen_;
  if (!is_consistent(row)) {
    ++contradicting_;
    return;
  }
  put_in_order(row);
  if (is_before(row.sent, row.scheduled)) {
    row.scheduled = kNoTime;
    ++sent_early_;
  }
  complete_tokens(row);
  const trace::StringId id = row.id.empty() ? trace::StringId() : builder_.string(row.id);
  if (is_repeated(row, id)) return;
  begin();
  trace::Trace& trace = builder_.trace();
  if (row.first_token == kNoTime) {
    const auto first = std::ranges::find_if(
        row.chunks, [](const RequestChunk& chunk) { return chunk.tokens > 0; });
    if (first != row.chunks.end()) row.first_token = first->time;
  }
  if (id.valid()) first_of_.try_emplace(id, trace.requests.size());
  places_.push_back(seen_ - 1);
  trace::add_row(trace.requests, file_row_, id, row.scheduled, row.sent, row.end, row.prompt_tokens,
                 row.output_tokens, row.cached_tokens, row.status,
                 static_cast<uint32_t>(trace.chunks.size()), row.first_token, row.queued,
                 row.warm_up);
  for (const RequestChunk& chunk : row.chunks) {
    trace::add_row(trace.chunks, chunk.time, chunk.tokens);
  }
}

void RequestRows::begin() {
  if (begun_) return;
  begun_ = true;
  builder_.begin_capture(path_, kRequestsFormat, tool_);
  trace::Trace& trace = builder_.trace();
  file_row_ = static_cast<uint32_t>(trace.request_files.size());
  first_request_ = trace.requests.size();
  trace.request_files.emplace_back();
}

// Times before the request was sent, and times that no clock shows.
bool RequestRows::is_consistent(const RequestRow& row) {
  const bool valid = is_valid_time(row.scheduled) && is_valid_time(row.sent) &&
                     is_valid_time(row.end) && is_valid_time(row.first_token) &&
                     is_valid_time(row.queued);
  if (!valid || is_before(row.end, row.sent) || is_before(row.first_token, row.sent)) return false;
  return std::ranges::all_of(row.chunks, [&](const RequestChunk& chunk) {
    return chunk.time != kNoTime && is_valid_time(chunk.time) && !is_before(chunk.time, row.sent);
  });
}

void RequestRows::put_in_order(RequestRow& row) {
  if (!std::ranges::is_sorted(row.chunks, {}, &RequestChunk::time)) {
    std::ranges::stable_sort(row.chunks, {}, &RequestChunk::time);
    ++sorted_;
  }
  if (!row.chunks.empty() && is_before(row.end, row.chunks.back().time)) {
    row.end = row.chunks.back().time;
    ++ends_early_;
  }
}

void RequestRows::complete_tokens(RequestRow& row) {
  if (row.chunks.empty()) return;
  const uint64_t arrived =
      std::accumulate(row.chunks.begin(), row.chunks.end(), uint64_t{0},
                      [](uint64_t sum, const RequestChunk& chunk) { return sum + chunk.tokens; });
  if (row.output_tokens == kNoCount) {
    row.output_tokens = arrived;
  } else if (row.output_tokens != arrived && row.status == trace::RequestStatus::completed) {
    ++(arrived < row.output_tokens ? fewer_tokens_ : more_tokens_);
  }
}

// Whether the same request was added before. Other requests may have the same id.
bool RequestRows::is_repeated(const RequestRow& row, trace::StringId id) {
  const auto known = id.valid() ? first_of_.find(id) : first_of_.end();
  if (known == first_of_.end()) return false;
  const trace::Trace& trace = builder_.trace();
  const size_t earlier = known->second;
  const size_t first_chunk = trace.requests.first_chunk[earlier];
  const size_t next = earlier + 1 < trace.requests.size() ? trace.requests.first_chunk[earlier + 1]
                                                          : trace.chunks.size();
  bool equal = trace.requests.sent[earlier] == row.sent && trace.requests.end[earlier] == row.end &&
               next - first_chunk == row.chunks.size();
  for (size_t i = 0; equal && i < row.chunks.size(); ++i) {
    equal = trace.chunks.time[first_chunk + i] == row.chunks[i].time;
  }
  ++(equal ? repeated_ : same_ids_);
  return equal;
}

void RequestRows::mark_warm_up(uint64_t first_requests) {
  for (size_t i = 0; i < places_.size() && places_[i] < first_requests; ++i) {
    builder_.trace().requests.warm_up[first_request_ + i] = true;
  }
}

std::string RequestRows::message(std::string_view text) const {
  return fmt::format("{}: {}", path_, text);
}

Result<void> RequestRows::finish() {
  if (!begun_) {
    const uint64_t bad = refused_ + contradicting_;
    return fail_input(message(
        bad > 0 ? fmt::format("none of its {} requests can be read: their values or times "
                              "contradict each other; have the client write the file again",
                              bad)
        : cut_.empty()
            ? std::string("it holds no requests; run the load again")
            : fmt::format("cut off before its first complete request ({}); copy the file again",
                          cut_)));
  }
  trace::Capture& capture = builder_.capture();
  capture.tool_version = tool_version_;
  capture.wall_clock_ns = wall_clock_ns_;
  file_.capture = builder_.capture_id();
  builder_.trace().request_files[file_row_] = std::move(file_);
  Diagnostics& diagnostics = builder_.diagnostics();
  if (!cut_.empty()) {
    diagnostics.warn("requests_cut_off",
                     message(fmt::format("the file is cut off ({}); the requests before the cut "
                                         "were read; copy the file again",
                                         cut_)));
  }
  const auto warn = [&](std::string_view code, std::string_view text, uint64_t count) {
    diagnostics.warn(code, message(text), count);
  };
  const std::string place = first_refused_ > 0
                                ? fmt::format(" (the first is in line {})", first_refused_)
                                : std::string();
  warn("requests_malformed", "skipped malformed requests" + place, refused_);
  warn("requests_contradicting_times",
       "skipped requests with impossible times, such as a token before the request was sent",
       contradicting_);
  warn("requests_repeated", "skipped requests that the file contains twice", repeated_);
  warn("requests_same_id",
       "requests with the id of an earlier one; all of them are kept, and ids do not distinguish "
       "them",
       same_ids_);
  warn("requests_chunks_out_of_order",
       "requests whose chunks were not in the order of their times; they were sorted", sorted_);
  warn("requests_end_before_last_chunk",
       "requests that end before their last chunk; their end is that chunk", ends_early_);
  warn("requests_sent_before_scheduled",
       "requests that were sent before they were scheduled; their schedule is ignored",
       sent_early_);
  warn(
      "requests_more_tokens",
      "completed requests whose chunks have more tokens than the request states: the client counts "
      "pieces without a token (progress, a role, usage) as tokens, which makes times to the first "
      "token too short and joins the others to wrong steps; leave these pieces out of `chunks`, or "
      "give them 0 tokens",
      more_tokens_);
  warn("requests_not_finite", "NaN or infinity in place of a number; treated as not recorded",
       non_finite_);
  diagnostics.info("requests_tokens_differ",
                   message("completed requests whose stated number of tokens differs from that of "
                           "their chunks; rates use the stated number"),
                   fewer_tokens_);
  return {};
}

}  // namespace llmprof::readers
