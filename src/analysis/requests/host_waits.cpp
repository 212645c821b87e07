#include "analysis/requests/host_waits.h"

#include <algorithm>

#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

// Where sorted times fall into two groups: the last one before the widest ratio between neighbors,
// with several on each side. None if no time is clearly more than the one before.
std::optional<Nanoseconds> end_of_short(std::vector<Nanoseconds> times) {
  constexpr Nanoseconds kShortest = 1'000;  // calls are not timed more exactly
  std::ranges::sort(times);
  double widest = threshold::kClearlyMore;
  std::optional<Nanoseconds> end;
  for (size_t i = threshold::kMany; i + threshold::kMany <= times.size(); ++i) {
    const double ratio = as_double(times[i]) / as_double(std::max(times[i - 1], kShortest));
    if (ratio <= widest) continue;
    widest = ratio;
    end = times[i - 1];
  }
  return end;
}

}  // namespace

HostWaits::HostWaits(const trace::Trace& trace, std::span<const uint32_t> reads)
    : trace_(trace), calls_(trace) {
  std::vector<Nanoseconds> until_waits;
  std::vector<Nanoseconds> between;
  std::vector<Nanoseconds> until_calls;
  for (const uint32_t copy : reads) {
    if (copy == UINT32_MAX) continue;
    auto request = request_of(trace.memory_operations.launch[copy]);
    if (!request) continue;
    // The call returned before the copy was done.
    const bool pending = request->end < trace.memory_operations.end[copy];
    if (pending && waits_next(*request)) {
      until_waits.push_back(until_wait(*request));
      ++request->next;
    }
    for (; waits_next(*request); ++request->next) between.push_back(since_last(*request));
    if (request->next < request->calls.size()) until_calls.push_back(since_last(*request));
  }
  at_once_ = end_of_short(std::move(until_waits)).value_or(INT64_MAX);
  directly_ = end_of_short(std::move(until_calls)).value_or(0);
  std::erase_if(between, [&](Nanoseconds time) { return time <= directly_; });
  if (!between.empty()) one_token_ = threshold::kPaused * median(std::span(between));
}

std::optional<BatchEnd> HostWaits::after(size_t copy) const {
  return after(trace_.memory_operations.launch[copy], trace_.memory_operations.end[copy]);
}

std::optional<BatchEnd> HostWaits::after(trace::LaunchRow asked, Nanoseconds done) const {
  auto request = request_of(asked);
  if (!request) return std::nullopt;
  BatchEnd found;
  found.results_read = request->end;
  if (request->end < done) {
    if (!waits_next(*request) || until_wait(*request) > at_once_) return std::nullopt;
    found.results_read = trace_.launches.end[request->calls[request->next++]];
    if (found.results_read < done) return std::nullopt;
  }
  found.last_chosen = last_wait(request->calls, request->next, found.results_read);
  return found;
}

std::optional<HostWaits::Request> HostWaits::request_of(trace::LaunchRow asked) const {
  if (!asked.valid()) return std::nullopt;
  const trace::LaunchTable& launches = trace_.launches;
  const Nanoseconds end = launches.end[asked.index()];
  const std::span<const uint32_t> calls = calls_.of(launches.thread[asked.index()]);
  const auto next =
      std::ranges::lower_bound(calls, end, {}, [&](uint32_t row) { return launches.start[row]; });
  return Request{end, calls, static_cast<size_t>(next - calls.begin())};
}

Nanoseconds HostWaits::since_last(const Request& request) const {
  if (request.next == 0) return 0;
  return trace_.launches.start[request.calls[request.next]] -
         trace_.launches.end[request.calls[request.next - 1]];
}

Nanoseconds HostWaits::last_wait(std::span<const uint32_t> rows, size_t at,
                                 Nanoseconds results) const {
  const trace::LaunchTable& launches = trace_.launches;
  std::vector<uint32_t> waits;
  Nanoseconds before = results;
  while (at < rows.size() && is_wait(rows[at]) && launches.start[rows[at]] - before < one_token_) {
    before = launches.end[rows[at]];
    waits.push_back(rows[at++]);
  }
  Nanoseconds next = at < rows.size() ? launches.start[rows[at]] : INT64_MAX;
  while (!waits.empty() && next - launches.end[waits.back()] <= directly_) {
    next = launches.start[waits.back()];
    waits.pop_back();
  }
  return waits.empty() ? results : launches.end[waits.back()];
}

}  // namespace llmprof::analysis
