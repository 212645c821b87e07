#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "testing/sample_profile.h"

namespace llmprof::testing {
namespace {

using profile::Milliseconds;
using profile::RequestFigure;
using profile::RequestPart;
using profile::Share;

using Parts = profile::ByWord<RequestPart, profile::WholeNanoseconds>;

profile::WholeNanoseconds exactly(double milliseconds) {
  return {static_cast<Nanoseconds>(std::llround(milliseconds * 1e6))};
}

profile::RequestTimes request_times(std::vector<double> milliseconds) {
  profile::RequestTimes made;
  std::ranges::sort(milliseconds);
  const auto rank = static_cast<size_t>(std::ceil(0.9 * static_cast<double>(milliseconds.size())));
  made.p90 = Milliseconds{milliseconds.at(rank - 1)};
  static_cast<profile::Statistics<Milliseconds>&>(made) = times(std::move(milliseconds));
  return made;
}

Parts parts_of(std::initializer_list<std::pair<RequestPart, double>> parts) {
  Parts made;
  for (const auto& [part, milliseconds] : parts) made.emplace_back(part, exactly(milliseconds));
  return made;
}

// Chunks arrive 0.2 ms after the ends of these batches.
profile::Request request(std::string id, double sent, std::vector<double> chunks,
                         int64_t first_batch) {
  profile::Request made;
  made.id = std::move(id);
  made.status = profile::RequestStatus::completed;
  made.scheduled = Milliseconds{sent - 0.05};
  made.sent = Milliseconds{sent};
  made.client_delay = exactly(0.05);
  made.ttft = exactly(chunks.front() - sent);
  made.e2e = exactly(chunks.back() + 0.1 - sent);
  made.tpot =
      Milliseconds{(chunks.back() - chunks.front()) / static_cast<double>(chunks.size() - 1)};
  made.longest_gap = exactly(3.4);
  made.prompt_tokens = 609;
  made.output_tokens = made.joined_tokens = chunks.size();
  for (size_t i = 0; i < chunks.size(); ++i) {
    made.token_times.push_back(exactly(chunks[i] - sent));
    made.token_batches.push_back(first_batch + static_cast<int64_t>(i));
  }
  return made;
}

profile::RequestLoad load(double goodput) {
  profile::RequestLoad made;
  made.arrivals = "poisson";
  made.rate = 12;
  made.sent_rate = 11.9;
  made.completed_rate = 11.25;
  made.output_rate = profile::TokensPerSecond{318.5};
  made.most_concurrent = 2;
  made.lateness = times({0.1, 0.2});
  made.verdict = profile::LoadVerdict::steady;
  made.drain_start = Milliseconds{0.75};
  made.objectives = {{RequestFigure::ttft, {4}, Share{0.5}}, {RequestFigure::itl, {3.2}, Share{1}}};
  made.goodput = goodput;
  made.goodput_low = goodput - 1.5;
  made.goodput_high = goodput + 1.5;
  return made;
}

void add_batches(profile::Requests& requests) {
  for (uint64_t i = 0; i < 4; ++i) {
    profile::RequestBatch& batch = requests.batches.emplace_back();
    const double start = 3 * static_cast<double>(i);
    batch.start = {start};
    batch.end = {start + 2};
    batch.results = {start + 2.1};
    batch.first_step = i;
    batch.steps = 1;
    batch.rows = batch.joined = i == 0 ? 1 : 2;
    batch.prompt_tokens = i < 2 ? 609 : 0;
    batch.context_tokens = 512 * (i + 1);
  }
}

void add_causes(profile::Requests& requests) {
  using enum RequestPart;
  requests.items[0].parts = parts_of({{queue, 0.25},
                                      {own_prefill, 1.75},
                                      {others_prefill, 2},
                                      {own_decode, 4},
                                      {host, 2.6},
                                      {delivery, 0.7}});
  requests.items[0].ttft_parts = parts_of({{queue, 0.25}, {own_prefill, 1.75}, {delivery, 0.2}});
  requests.items[0].waits = {{1, others_prefill}};
  requests.items[1].parts =
      parts_of({{queue, 2.5}, {own_prefill, 2}, {own_decode, 4}, {host, 1.4}, {delivery, 0.7}});
  requests.items[1].ttft_parts = parts_of({{queue, 2.5}, {own_prefill, 2}, {delivery, 0.2}});
  requests.parts = parts_of({{queue, 2.75},
                             {own_prefill, 3.75},
                             {others_prefill, 2},
                             {own_decode, 8},
                             {host, 4},
                             {delivery, 1.4}});
  profile::RequestGap gap;
  gap.chunk = 1;
  gap.start = {2.2};
  gap.time = exactly(3.4);
  gap.batch = gap.step = 1;
  gap.parts = parts_of({{others_prefill, 2}, {host, 1.2}, {delivery, 0.2}});
  gap.most_delayed_by = "late";
  requests.slowest_gaps = {gap};
  requests.tail = {
      {RequestFigure::itl,
       {0.99},
       {3.4},
       1,
       2,
       {{others_prefill, {2}, {0}, {2}}, {host, {1.2}, {0.8}, {0.4}}, {own_decode, {0}, {2}, {-2}}},
       "late"}};
  requests.delayers = {{"late", exactly(2), exactly(0.5), 1, 1}};
  requests.delays = {{"late", "early", exactly(2), exactly(0.5), 1}};
  requests.steps_by_size = {
      {2, 2, 1536.0, times({3, 3.1}), Milliseconds{0.9}, Milliseconds{1.525}}};
}

}  // namespace

profile::Profile requests_sample() {
  profile::Profile sample = serving_sample();
  profile::Requests& requests = sample.requests.emplace();
  requests.file = "load/requests.json";
  requests.source = profile::RequestSource::llmprof;
  requests.sent = 3;
  requests.completed = 2;
  requests.failed = 1;
  requests.warm_up = 1;
  requests.output_tokens = 7;
  requests.items = {request("early", 0, {2.2, 5.6, 8.2, 11.2}, 0),
                    request("late", 0.75, {5.45, 8.25, 11.25}, 1)};
  profile::Request& broken = requests.items.emplace_back();
  broken.id = "broken";
  broken.status = profile::RequestStatus::cut;
  broken.sent = Milliseconds{1};
  requests.ttft = request_times({2.2, 4.7});
  requests.itl = request_times({3.4, 2.6, 3, 2.8, 3});
  requests.tpot = request_times({3, 2.9});
  requests.e2e = request_times({11.3, 10.6});
  requests.queue = request_times({0.25, 2.5});
  requests.load = load(5.5);
  add_batches(requests);
  add_causes(requests);
  profile::RequestJoin& join = requests.join;
  join.state = profile::JoinState::joined;
  join.tokens = join.tokens_joined = 7;
  join.rows = 8;
  join.rows_joined = 7;
  join.rows_named = 1;
  join.coverage = join.coverage_of_rows = Share{1};
  join.tokens_ambiguous = 1;
  join.delivery = times({0.2, 0.25});
  join.decode_alone = times({1.5, 1.6});
  requests.stated = {{"mean_ttft_ms", 3.45, 3.45}};
  profile::UnrecordedRequests& alone = requests.unrecorded.emplace();
  alone.file = "load/unrecorded.json";
  alone.completed = 3;
  alone.ttft = request_times({2, 2.5, 4});
  alone.itl = request_times({2.5, 3, 3.2});
  alone.tpot = request_times({2.8, 2.85, 2.9});
  alone.e2e = request_times({10, 10.5, 11});
  alone.load = load(7.25);
  return sample;
}

}  // namespace llmprof::testing
