#pragma once

#include <vector>

#include "profile/findings.h"
#include "profile/requests.h"

namespace llmprof::analysis {

// What requests waited for and could be spared, with what it costs each request, each figure's mean
// and each figure's tail. Empty unless the requests are joined to the engine's batches. Parts that
// are the work itself (own prefill, decode) have no finding.
std::vector<profile::Finding> find_request_findings(const profile::Requests& requests);

// Time in which at least one request was in flight, in ns; requests without times do not count.
Nanoseconds time_in_flight(const profile::Requests& requests);

}  // namespace llmprof::analysis
