#pragma once

#include <vector>

#include "analysis/requests/client_requests.h"
#include "profile/requests.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// How the requests were sent, and what came of it. `objectives` replace those of the file, unless
// they are empty.
profile::RequestLoad request_load(const trace::Trace& trace, const ClientRequests& requests,
                                  const std::vector<profile::Objective>& objectives);

}  // namespace llmprof::analysis
