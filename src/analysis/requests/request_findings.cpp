#include "analysis/requests/request_findings.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

using profile::Finding;
using profile::FindingKind;
using profile::FindingValues;
using profile::Request;
using profile::RequestFigure;
using profile::RequestPart;
using profile::Requests;
using profile::RequestTail;
using profile::TailPart;

// A part is reported if it takes this share of the requests' time ...
constexpr double kLeastShareOfTime = 0.01;
// ... or explains this share of the value where a figure's tail begins.
constexpr double kLeastShareOfTail = 0.1;

constexpr std::pair<RequestPart, FindingKind> kKinds[] = {
    {RequestPart::others_prefill, FindingKind::requests_delayed_by_prompts},
    {RequestPart::queue, FindingKind::requests_queued},
    {RequestPart::host, FindingKind::requests_delayed_by_host},
    {RequestPart::graph_miss, FindingKind::requests_without_graph},
    {RequestPart::out_of_batch, FindingKind::requests_preempted},
    {RequestPart::delivery, FindingKind::requests_delivered_late},
    {RequestPart::lowered_clocks, FindingKind::requests_at_low_clocks},
    {RequestPart::communication, FindingKind::requests_in_communication},
};

using TimesByPart = profile::ByWord<RequestPart, profile::WholeNanoseconds>;

Nanoseconds time_of_part(const TimesByPart& times, RequestPart part) {
  Nanoseconds sum = 0;
  for (const auto& [known, time] : times) {
    if (known == part) sum += time.value;
  }
  return sum;
}

bool counts(const Request& request) {
  return request.status == profile::RequestStatus::completed && !request.warm_up;
}

// What completed requests spent on one part; an estimate if they were recorded in windows.
struct TimeOfPart {
  Nanoseconds total = 0;
  Nanoseconds before_first_token = 0;
  uint64_t requests = 0;  // that spent any
};

// `whole`: all of their time over the recorded one.
TimeOfPart sum_part(const Requests& requests, RequestPart part, double whole) {
  TimeOfPart sum;
  for (const Request& request : requests.items) {
    if (!counts(request)) continue;
    const Nanoseconds time = time_of_part(request.parts, part);
    sum.total += time;
    sum.before_first_token += time_of_part(request.ttft_parts, part);
    if (time > 0) ++sum.requests;
  }
  sum.total = std::llround(as_double(sum.total) * whole);
  sum.before_first_token = std::llround(as_double(sum.before_first_token) * whole);
  return sum;
}

// The most extreme tail is what service levels limit.
const RequestTail* last_tail(const Requests& requests, RequestFigure figure) {
  const RequestTail* last = nullptr;
  for (const RequestTail& tail : requests.tail) {
    if (tail.figure != figure || tail.count == 0) continue;
    if (last == nullptr || tail.quantile > last->quantile) last = &tail;
  }
  return last;
}

const TailPart* part_of(const RequestTail& tail, RequestPart part) {
  const auto found = std::ranges::find(tail.parts, part, &TailPart::part);
  return found == tail.parts.end() ? nullptr : &*found;
}

double mean_in(const RequestTail& tail) {
  double sum = 0;
  for (const TailPart& part : tail.parts) sum += part.tail.value;
  return sum;
}

std::optional<profile::Milliseconds> mean_over(Nanoseconds total, uint64_t count) {
  if (count == 0) return std::nullopt;
  return to_milliseconds(static_cast<double>(total) / static_cast<double>(count));
}

bool explains(const RequestTail& tail, const TailPart& part) {
  return part.more.value > 0 && part.more.value >= kLeastShareOfTail * tail.above.value;
}

// The figures that the part is in, with what it explains of their tails. End-to-end time is the
// finding's own saving.
bool add_figures(const Requests& requests, RequestPart part, const TimeOfPart& time,
                 std::vector<profile::FigureSaving>& figures, FindingValues& values) {
  bool in_a_tail = false;
  const auto add = [&](RequestFigure figure, Nanoseconds total, uint64_t count) {
    profile::FigureSaving saving;
    saving.figure = figure;
    saving.mean = mean_over(total, count);
    if (const RequestTail* tail = last_tail(requests, figure)) {
      const TailPart* const of_part = part_of(*tail, part);
      saving.quantile = tail->quantile;
      saving.tail = profile::Milliseconds{of_part == nullptr ? 0 : of_part->more.value};
      if (of_part != nullptr && explains(*tail, *of_part)) {
        in_a_tail = true;
        const std::string_view name = to_string(figure);
        values.add("tail_part", of_part->tail, name)
            .add("tail_mean", profile::Milliseconds{mean_in(*tail)}, name)
            .add("tail_from", tail->above, name)
            .add("tail_median", of_part->median, name)
            .add("tail_share", profile::Share{1 - tail->quantile.value}, name)
            .add("tail_count", tail->count, name);
      }
    }
    if (total > 0) figures.push_back(saving);
  };
  add(RequestFigure::ttft, time.before_first_token, requests.ttft.count);
  add(RequestFigure::itl, time.total - time.before_first_token, requests.itl.count);
  return in_a_tail;
}

uint64_t largest_batch(const Requests& requests) {
  uint64_t rows = 0;
  for (const profile::RequestBatch& batch : requests.batches) rows = std::max(rows, batch.rows);
  return rows;
}

// Who, how often, and what the server's limits are, as far as the requests show it.
void add_circumstances(const Requests& requests, RequestPart part, FindingValues& values) {
  if (part == RequestPart::others_prefill && !requests.delayers.empty()) {
    const profile::RequestDelayer& first = requests.delayers.front();
    values.add("delayer", first.by)
        .add("delayer_time", to_milliseconds(first.time.value + first.of_first_tokens.value))
        .add("delayer_requests", first.requests);
  }
  if (part == RequestPart::queue) {
    const uint64_t rows = largest_batch(requests);
    if (rows > 0) values.add("largest_batch", rows);
    if (requests.load.most_concurrent) {
      values.add("most_in_flight", *requests.load.most_concurrent)
          .add("batch_is_full", rows > 0 && *requests.load.most_concurrent > rows);
    }
    values.add("over_saturated", requests.load.verdict == profile::LoadVerdict::over_saturated);
  }
  if (part == RequestPart::out_of_batch) {
    uint64_t preemptions = 0;
    for (const Request& request : requests.items) {
      if (counts(request)) preemptions += request.preemptions;
    }
    values.add("preemptions", preemptions);
  }
  if (part == RequestPart::delivery && requests.join.delivery && requests.join.delivery->p50) {
    values.add("delivery_median", *requests.join.delivery->p50)
        .add("delivery_p99", *requests.join.delivery->p99);
  }
}

}  // namespace

Nanoseconds time_in_flight(const Requests& requests) {
  std::vector<std::pair<Nanoseconds, Nanoseconds>> flights;
  for (const Request& request : requests.items) {
    if (!counts(request) || !request.sent || !request.e2e) continue;
    const Nanoseconds sent = to_nanoseconds(*request.sent);
    flights.emplace_back(sent, sent + request.e2e->value);
  }
  std::ranges::sort(flights);
  Nanoseconds sum = 0;
  Nanoseconds until = INT64_MIN;
  for (const auto& [from, to] : flights) {
    const Nanoseconds start = std::max(from, until);
    if (to <= start) continue;
    sum += to - start;
    until = to;
  }
  return sum;
}

std::vector<Finding> find_request_findings(const Requests& requests) {
  std::vector<Finding> findings;
  if (requests.join.state != profile::JoinState::joined || requests.completed == 0) return findings;
  Nanoseconds all = 0;
  for (const auto& [part, time] : requests.parts) all += time.value;
  const Nanoseconds recorded = all - time_of_part(requests.parts, RequestPart::not_recorded);
  if (recorded <= 0) return findings;
  // What was recorded stands for the rest.
  const double whole = as_double(all) / as_double(recorded);
  const auto in_flight = static_cast<double>(time_in_flight(requests));
  for (const auto& [part, kind] : kKinds) {
    const TimeOfPart time = sum_part(requests, part, whole);
    if (time.total <= 0) continue;
    const double share_of_time = as_double(time.total) / as_double(all);
    FindingValues values;
    values.add("requests", time.requests).add("completed", requests.completed);
    add_circumstances(requests, part, values);
    std::vector<profile::FigureSaving> figures;
    const bool in_a_tail = add_figures(requests, part, time, figures, values);
    if (share_of_time < kLeastShareOfTime && !in_a_tail) continue;
    Finding& finding = findings.emplace_back();
    finding.kind = kind;
    finding.unit = "request";
    finding.saving = mean_over(time.total, requests.completed);
    finding.share_of_wall = {share_of_time};
    finding.total_saving = to_milliseconds(share_of_time * in_flight);
    finding.values = std::move(values).take();
    finding.figures = std::move(figures);
  }
  return findings;
}

}  // namespace llmprof::analysis
