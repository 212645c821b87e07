#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compare/model/compared_quantity.h"
#include "profile/requests.h"

namespace llmprof::compare {

// Values of one quantity of one run's requests, in ms, each with the place of its request among
// those that were not sent to warm up. Only completed requests have values.
struct RequestSamples {
  std::vector<double> values;
  std::vector<uint32_t> places;  // one per value, not decreasing
  size_t requests = 0;           // places
};

// For goodput there are none. A gap before a chunk with several tokens is one value: profile.json
// has the chunks' times, not their tokens.
RequestSamples samples_of(const profile::Requests& requests, ComparedQuantity quantity);

// Whether the profile's own figure can be computed from it: null of quantities without one.
const profile::RequestTimes* times_of(const profile::Requests& requests, ComparedQuantity quantity);
const profile::RequestTimes* times_of(const profile::UnrecordedRequests& requests,
                                      ComparedQuantity quantity);

// None if the statistic is not among a profile's figures.
std::optional<double> value_of(const profile::RequestTimes& times, Statistic statistic);

}  // namespace llmprof::compare
