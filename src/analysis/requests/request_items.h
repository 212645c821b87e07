#pragma once

#include <vector>

#include "analysis/requests/client_requests.h"
#include "profile/requests.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// One row per request, in the file's order, without causes. Times are on the capture's clock if the
// clocks agree, otherwise on the file's.
std::vector<profile::Request> request_items(const trace::Trace& trace,
                                            const ClientRequests& requests);

// Counts and times of all counted requests together, into the members of the same meaning.
void add_request_statistics(const trace::Trace& trace, const ClientRequests& requests,
                            profile::Requests& into);
profile::UnrecordedRequests unrecorded_requests(const trace::Trace& trace,
                                                const ClientRequests& requests,
                                                const std::vector<profile::Objective>& objectives);

}  // namespace llmprof::analysis
