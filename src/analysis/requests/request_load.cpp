#include "analysis/requests/request_load.h"

#include <algorithm>
#include <cmath>

#include "analysis/requests/load_judgement.h"
#include "analysis/requests/request_times.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

using profile::RequestFigure;
using trace::kNoTime;

// Requests without warm-up, of which `sent` and `end` are known.
struct MeasuredLoad {
  std::vector<SentRequest> sent;  // in the order of sending
  Nanoseconds last_end = kNoTime;
  uint64_t completed = 0;
  uint64_t tokens = 0;  // of completed requests

  // From the first sent to the last end, in seconds; 0 if unknown.
  [[nodiscard]] double seconds() const {
    if (sent.empty()) return 0;
    return static_cast<double>(last_end - sent.front().sent) / kNanosecondsPerSecond;
  }
  [[nodiscard]] double sending_seconds() const {
    if (sent.empty()) return 0;
    return static_cast<double>(sent.back().sent - sent.front().sent) / kNanosecondsPerSecond;
  }
};

MeasuredLoad measure_load(const trace::Trace& trace, const ClientRequests& requests) {
  MeasuredLoad load;
  for (size_t row = requests.first; row < requests.last; ++row) {
    const Nanoseconds sent = trace.requests.sent[row];
    if (is_warm_up(trace, row) || sent == kNoTime) continue;
    const Nanoseconds end = last_time(trace, row);
    load.sent.push_back({sent, end, times_of_request(trace, row).ttft});
    load.last_end = std::max(load.last_end, end);
    if (!is_counted(trace, row)) continue;
    ++load.completed;
    const uint64_t tokens = trace.requests.output_tokens[row];
    if (tokens != trace::kNoCount) load.tokens += tokens;
  }
  std::ranges::stable_sort(load.sent, {}, &SentRequest::sent);
  return load;
}

std::optional<Nanoseconds> limited_time(RequestFigure figure, const RequestTimesOfOne& times) {
  switch (figure) {
    case RequestFigure::ttft:
      return times.ttft;
    case RequestFigure::e2e:
      return times.e2e;
    case RequestFigure::itl:
    case RequestFigure::tpot:
      return times.tpot ? std::optional(std::llround(*times.tpot)) : std::nullopt;
  }
  return std::nullopt;
}

// A request of one token has no later one that could be too slow.
bool meets(const profile::Objective& objective, const RequestTimesOfOne& times) {
  const auto time = limited_time(objective.figure, times);
  if (!time) {
    const bool of_later_tokens =
        objective.figure == RequestFigure::itl || objective.figure == RequestFigure::tpot;
    return of_later_tokens && times.ttft.has_value();
  }
  return *time <= to_nanoseconds(objective.limit);
}

std::vector<profile::Objective> objectives_of(const trace::RequestFile& file) {
  std::vector<profile::Objective> objectives;
  const auto add = [&](RequestFigure figure, Nanoseconds limit) {
    if (limit != kNoTime) objectives.push_back({figure, profile::to_milliseconds(limit), {}});
  };
  add(RequestFigure::ttft, file.ttft_limit);
  add(RequestFigure::itl, file.itl_limit);
  add(RequestFigure::tpot, file.tpot_limit);
  add(RequestFigure::e2e, file.e2e_limit);
  return objectives;
}

// Wilson's interval of a share, which is also valid near 0 and 1.
struct ShareInterval {
  double low = 0;
  double high = 1;
};
ShareInterval interval_95(double part, double whole) {
  constexpr double kZ = 1.959963984540054;
  const double share = part / whole;
  const double widened = 1 + kZ * kZ / whole;
  const double center = (share + kZ * kZ / (2 * whole)) / widened;
  const double half =
      kZ / widened * std::sqrt(share * (1 - share) / whole + kZ * kZ / (4 * whole * whole));
  return {std::max(0.0, center - half), std::min(1.0, center + half)};
}

void add_objectives(const trace::Trace& trace, const ClientRequests& requests,
                    const MeasuredLoad& measured, profile::RequestLoad& load) {
  uint64_t completed = 0;
  uint64_t meet_all = 0;
  std::vector<uint64_t> meet(load.objectives.size());
  for (size_t row = requests.first; row < requests.last; ++row) {
    if (!is_counted(trace, row)) continue;
    const RequestTimesOfOne times = times_of_request(trace, row);
    ++completed;
    bool all = true;
    for (size_t i = 0; i < meet.size(); ++i) {
      const bool one = meets(load.objectives[i], times);
      meet[i] += one ? 1U : 0U;
      all = all && one;
    }
    meet_all += all ? 1U : 0U;
  }
  for (size_t i = 0; i < meet.size(); ++i) {
    load.objectives[i].attained = share(meet[i], completed);
  }
  const double seconds = measured.seconds();
  if (load.objectives.empty() || !(seconds > 0)) return;
  const auto sent = static_cast<double>(measured.sent.size());
  const auto good = static_cast<double>(meet_all);
  const ShareInterval interval = interval_95(good, sent);
  load.goodput = good / seconds;
  load.goodput_low = interval.low * sent / seconds;
  load.goodput_high = interval.high * sent / seconds;
}

profile::Statistics<profile::Milliseconds> lateness(const trace::Trace& trace,
                                                    const ClientRequests& requests) {
  std::vector<Nanoseconds> delays;
  for (size_t row = requests.first; row < requests.last; ++row) {
    if (is_warm_up(trace, row)) continue;
    if (const auto delay = times_of_request(trace, row).client_delay) delays.push_back(*delay);
  }
  return times(summarize(std::move(delays)));
}

}  // namespace

profile::RequestLoad request_load(const trace::Trace& trace, const ClientRequests& requests,
                                  const std::vector<profile::Objective>& objectives) {
  const trace::RequestFile& file = requests.file_of(trace);
  profile::RequestLoad load;
  load.arrivals = file.arrivals;
  load.rate = unless_zero(file.rate);
  load.concurrency = unless_zero(file.concurrency);
  load.objectives = objectives.empty() ? objectives_of(file) : objectives;
  // Without a clock, each request starts at 0.
  if (file.clock == trace::RequestClock::none) {
    add_objectives(trace, requests, {}, load);
    return load;
  }
  if (const auto late = lateness(trace, requests); late.count > 0) load.lateness = late;
  const MeasuredLoad measured = measure_load(trace, requests);
  add_objectives(trace, requests, measured, load);
  if (measured.sent.empty()) return load;
  load.sent_rate = ratio(static_cast<double>(measured.sent.size() - 1), measured.sending_seconds());
  load.completed_rate = ratio(static_cast<double>(measured.completed), measured.seconds());
  load.output_rate = quantity<profile::TokensPerSecond>(
      ratio(static_cast<double>(measured.tokens), measured.seconds()));
  const std::vector<ConcurrencyChange> concurrency = concurrency_of(measured.sent);
  uint64_t most = 0;
  for (const ConcurrencyChange& change : concurrency) most = std::max(most, change.requests);
  load.most_concurrent = unless_zero(most);
  load.verdict = judge_load(measured.sent);
  if (load.verdict == profile::LoadVerdict::steady) {
    load.ramp_up_end = to_milliseconds(end_of_ramp_up(measured.sent, concurrency));
  }
  load.drain_start =
      profile::to_milliseconds(measured.sent.back().sent - measured.sent.front().sent);
  return load;
}

}  // namespace llmprof::analysis
