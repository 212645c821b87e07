#include "analysis/requests/request_items.h"

#include <fmt/format.h>

#include "analysis/requests/request_load.h"
#include "analysis/requests/request_times.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

using profile::WholeNanoseconds;
using trace::kNoCount;
using trace::kNoTime;

profile::RequestStatus status_of(trace::RequestStatus status) {
  switch (status) {
    case trace::RequestStatus::completed:
      return profile::RequestStatus::completed;
    case trace::RequestStatus::failed:
      return profile::RequestStatus::failed;
    case trace::RequestStatus::cut:
      return profile::RequestStatus::cut;
    case trace::RequestStatus::cancelled:
      return profile::RequestStatus::cancelled;
  }
  return profile::RequestStatus::failed;
}

std::optional<uint64_t> known_count(uint64_t count) {
  return count == kNoCount ? std::nullopt : std::optional(count);
}

std::optional<WholeNanoseconds> exact(const std::optional<Nanoseconds>& time) {
  return time ? std::optional(WholeNanoseconds{*time}) : std::nullopt;
}

profile::Request request_item(const trace::Trace& trace, const ClientRequests& requests,
                              size_t row) {
  const trace::RequestTable& table = trace.requests;
  const RequestTimesOfOne times = times_of_request(trace, row);
  const bool absolute = requests.file_of(trace).clock != trace::RequestClock::none;
  const Nanoseconds shift = requests.shift;
  const auto placed = [&](Nanoseconds time) {
    return time != kNoTime && absolute ? std::optional(to_milliseconds(time + shift))
                                       : std::nullopt;
  };
  profile::Request item;
  item.id = table.id[row].valid() ? std::string(trace.strings[table.id[row]])
                                  : fmt::format("{}", row - requests.first);
  item.status = status_of(table.status[row]);
  item.warm_up = is_warm_up(trace, row);
  item.scheduled = placed(table.scheduled[row]);
  item.sent = placed(table.sent[row]);
  item.client_delay = exact(times.client_delay);
  item.ttft = exact(times.ttft);
  item.e2e = exact(times.e2e);
  item.tpot = to_milliseconds(times.tpot);
  item.longest_gap = exact(times.longest_gap);
  item.prompt_tokens = known_count(table.prompt_tokens[row]);
  item.output_tokens = known_count(table.output_tokens[row]);
  item.cached_tokens = known_count(table.cached_tokens[row]);
  if (table.sent[row] == kNoTime) return item;
  const ChunkRows chunks = chunks_of(trace, row);
  for (size_t i = chunks.first; i < chunks.last; ++i) {
    if (trace.chunks.tokens[i] == 0) continue;
    item.token_times.push_back({trace.chunks.time[i] - table.sent[row]});
  }
  return item;
}

struct RequestStatistics {
  profile::RequestTimes ttft;
  profile::RequestTimes itl;
  profile::RequestTimes tpot;
  profile::RequestTimes e2e;
};

RequestStatistics statistics_of(const trace::Trace& trace, const ClientRequests& requests) {
  std::vector<WeightedTime> ttft;
  std::vector<WeightedTime> itl;
  std::vector<WeightedTime> tpot;
  std::vector<WeightedTime> e2e;
  for (size_t row = requests.first; row < requests.last; ++row) {
    if (!is_counted(trace, row)) continue;
    const RequestTimesOfOne times = times_of_request(trace, row);
    if (times.ttft) ttft.push_back({as_double(*times.ttft)});
    if (times.tpot) tpot.push_back({*times.tpot});
    if (times.e2e) e2e.push_back({as_double(*times.e2e)});
    add_token_latencies(trace, row, itl);
  }
  return {summarize_times(std::move(ttft)), summarize_times(std::move(itl)),
          summarize_times(std::move(tpot)), summarize_times(std::move(e2e))};
}

uint64_t completed_of(const trace::Trace& trace, const ClientRequests& requests) {
  uint64_t count = 0;
  for (size_t row = requests.first; row < requests.last; ++row) {
    count += is_counted(trace, row) ? 1U : 0U;
  }
  return count;
}

std::string path_of(const trace::Trace& trace, const ClientRequests& requests) {
  return to_printable(trace.captures[requests.file_of(trace).capture.index()].path);
}

}  // namespace

std::vector<profile::Request> request_items(const trace::Trace& trace,
                                            const ClientRequests& requests) {
  std::vector<profile::Request> items;
  items.reserve(requests.size());
  for (size_t row = requests.first; row < requests.last; ++row) {
    items.push_back(request_item(trace, requests, row));
  }
  return items;
}

void add_request_statistics(const trace::Trace& trace, const ClientRequests& requests,
                            profile::Requests& into) {
  into.file = path_of(trace, requests);
  into.completed = completed_of(trace, requests);
  for (size_t row = requests.first; row < requests.last; ++row) {
    if (is_warm_up(trace, row)) {
      ++into.warm_up;
      continue;
    }
    ++into.sent;
    const uint64_t tokens = trace.requests.output_tokens[row];
    if (is_counted(trace, row) && tokens != kNoCount) into.output_tokens += tokens;
  }
  into.failed = into.sent - into.completed;
  RequestStatistics statistics = statistics_of(trace, requests);
  into.ttft = statistics.ttft;
  into.itl = statistics.itl;
  into.tpot = statistics.tpot;
  into.e2e = statistics.e2e;
}

profile::UnrecordedRequests unrecorded_requests(const trace::Trace& trace,
                                                const ClientRequests& requests,
                                                const std::vector<profile::Objective>& objectives) {
  const RequestStatistics statistics = statistics_of(trace, requests);
  return {.file = path_of(trace, requests),
          .completed = completed_of(trace, requests),
          .ttft = statistics.ttft,
          .itl = statistics.itl,
          .tpot = statistics.tpot,
          .e2e = statistics.e2e,
          .load = request_load(trace, requests, objectives)};
}

}  // namespace llmprof::analysis
