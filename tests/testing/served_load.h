#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compare/model/sides.h"

namespace llmprof::testing {

// A server that processes one prompt after the other while all started requests decode. Arrivals
// and prompts follow from `load_seed`; the speed of the server drifts slowly, by `run_seed`.
struct ServedLoad {
  uint64_t load_seed = 1;
  uint64_t run_seed = 1;
  size_t requests = 600;
  size_t tokens = 9;
  double slower = 1;        // factor of all steps
  double longer_queue = 0;  // ms, of each request
};

inline profile::RequestTimes request_times(std::vector<double> values) {
  profile::RequestTimes times;
  times.count = values.size();
  if (values.empty()) return times;
  std::ranges::sort(values);
  double sum = 0;
  for (const double value : values) sum += value;
  const auto rank = [&](double fraction) {
    const auto place = std::ceil(fraction * static_cast<double>(values.size()));
    return profile::Milliseconds{values[static_cast<size_t>(place) - 1]};
  };
  times.mean = profile::Milliseconds{sum / static_cast<double>(values.size())};
  times.p50 = rank(0.5);
  times.p90 = rank(0.9);
  times.p99 = rank(0.99);
  return times;
}

inline compare::Run served_load(const ServedLoad& of) {
  std::mt19937_64 load(of.load_seed);
  std::mt19937_64 noise(1000 + of.run_seed);
  std::exponential_distribution<double> pause(1.0 / 30);
  std::normal_distribution<double> normal;
  profile::Requests requests;
  requests.load.arrivals = "poisson";
  requests.load.rate = 33;
  std::vector<double> first;
  std::vector<double> gaps;
  std::vector<double> per_token;
  std::vector<double> whole;
  double arrival = 0;
  double idle_from = 0;  // when the last prompt was processed
  double drift = 0;
  const auto step = [&] {
    drift = 0.9 * drift + 0.02 * normal(noise);
    return of.slower * (1 + drift) * (1 + 0.01 * normal(noise));
  };
  const auto whole_ns = [](double ms) {
    return profile::WholeNanoseconds{static_cast<Nanoseconds>(std::llround(ms * 1e6))};
  };
  for (size_t i = 0; i < of.requests; ++i) {
    arrival += pause(load);
    const uint64_t prompt = 100 + load() % 900;
    const double start = std::max(arrival, idle_from);
    const double prefill = 0.02 * static_cast<double>(prompt) * step();
    idle_from = start + prefill;
    profile::Request& request = requests.items.emplace_back();
    request.id = std::to_string(i);
    request.status = profile::RequestStatus::completed;
    request.scheduled = profile::Milliseconds{arrival};
    request.sent = request.scheduled;
    request.prompt_tokens = prompt;
    request.output_tokens = of.tokens;
    const profile::WholeNanoseconds queue = whole_ns(start - arrival + of.longer_queue);
    const profile::WholeNanoseconds own = whole_ns(prefill);
    request.ttft = profile::WholeNanoseconds{queue.value + own.value};
    request.token_times = {*request.ttft};
    for (size_t token = 1; token < of.tokens; ++token) {
      const Nanoseconds gap = whole_ns(5 * step()).value;
      request.token_times.push_back({request.token_times.back().value + gap});
      gaps.push_back(static_cast<double>(gap) / 1e6);
    }
    request.e2e = request.token_times.back();
    const Nanoseconds decode = request.e2e->value - request.ttft->value;
    request.tpot = profile::Milliseconds{static_cast<double>(decode) / 1e6 /
                                         static_cast<double>(of.tokens - 1)};
    using Part = profile::RequestPart;
    request.ttft_parts = {{Part::queue, queue}, {Part::own_prefill, own}};
    request.parts = {{Part::queue, queue}, {Part::own_prefill, own}, {Part::own_decode, {decode}}};
    first.push_back(static_cast<double>(request.ttft->value) / 1e6);
    per_token.push_back(request.tpot->value);
    whole.push_back(static_cast<double>(request.e2e->value) / 1e6);
  }
  requests.sent = requests.completed = of.requests;
  requests.output_tokens = of.requests * of.tokens;
  requests.ttft = request_times(std::move(first));
  requests.itl = request_times(std::move(gaps));
  requests.tpot = request_times(std::move(per_token));
  requests.e2e = request_times(std::move(whole));
  requests.join.state = profile::JoinState::joined;
  Nanoseconds queue_total = 0;
  Nanoseconds prefill_total = 0;
  Nanoseconds decode_total = 0;
  for (const profile::Request& request : requests.items) {
    queue_total += request.parts[0].second.value;
    prefill_total += request.parts[1].second.value;
    decode_total += request.parts[2].second.value;
  }
  requests.parts = {{profile::RequestPart::queue, {queue_total}},
                    {profile::RequestPart::own_prefill, {prefill_total}},
                    {profile::RequestPart::own_decode, {decode_total}}};
  compare::Run run;
  run.path = "load " + std::to_string(of.run_seed);
  run.profile.requests = std::move(requests);
  return run;
}

}  // namespace llmprof::testing
