#include "compare/requests/request_samples.h"

#include "profile/quantity.h"

namespace llmprof::compare {
namespace {

using profile::Request;

// ms
double as_milliseconds(profile::WholeNanoseconds time) {
  return profile::to_milliseconds(time.value).value;
}

void add_gaps(const Request& request, std::vector<double>& values) {
  for (size_t i = 1; i < request.token_times.size(); ++i) {
    const profile::WholeNanoseconds gap{request.token_times[i].value -
                                        request.token_times[i - 1].value};
    values.push_back(as_milliseconds(gap));
  }
}

double time_on(const Request& request, profile::RequestPart part) {
  double sum = 0;
  for (const auto& [known, time] : request.parts) {
    if (known == part) sum += as_milliseconds(time);
  }
  return sum;
}

void add_values(const Request& request, ComparedQuantity quantity, std::vector<double>& values) {
  switch (quantity.measured) {
    case Measured::ttft:
      if (request.ttft) values.push_back(as_milliseconds(*request.ttft));
      break;
    case Measured::itl:
      add_gaps(request, values);
      break;
    case Measured::tpot:
      if (request.tpot) values.push_back(request.tpot->value);
      break;
    case Measured::e2e:
      if (request.e2e) values.push_back(as_milliseconds(*request.e2e));
      break;
    case Measured::request_part:
      if (quantity.part) values.push_back(time_on(request, *quantity.part));
      break;
    default:
      break;
  }
}

template <class Figures>
const profile::RequestTimes* figure_of(const Figures& figures, Measured measured) {
  switch (measured) {
    case Measured::ttft:
      return &figures.ttft;
    case Measured::itl:
      return &figures.itl;
    case Measured::tpot:
      return &figures.tpot;
    case Measured::e2e:
      return &figures.e2e;
    default:
      return nullptr;
  }
}

}  // namespace

RequestSamples samples_of(const profile::Requests& requests, ComparedQuantity quantity) {
  RequestSamples samples;
  for (const Request& request : requests.items) {
    if (request.warm_up) continue;
    const auto place = static_cast<uint32_t>(samples.requests++);
    if (request.status != profile::RequestStatus::completed) continue;
    add_values(request, quantity, samples.values);
    samples.places.resize(samples.values.size(), place);
  }
  return samples;
}

const profile::RequestTimes* times_of(const profile::Requests& requests,
                                      ComparedQuantity quantity) {
  return figure_of(requests, quantity.measured);
}

const profile::RequestTimes* times_of(const profile::UnrecordedRequests& requests,
                                      ComparedQuantity quantity) {
  return figure_of(requests, quantity.measured);
}

std::optional<double> value_of(const profile::RequestTimes& times, Statistic statistic) {
  const auto number = [](const std::optional<profile::Milliseconds>& time) {
    return time ? std::optional(time->value) : std::nullopt;
  };
  switch (statistic) {
    case Statistic::mean:
      return number(times.mean);
    case Statistic::p50:
      return number(times.p50);
    case Statistic::p90:
      return number(times.p90);
    case Statistic::p99:
      return number(times.p99);
    case Statistic::shift:
      break;
  }
  return std::nullopt;
}

}  // namespace llmprof::compare
