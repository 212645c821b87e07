#pragma once

#include <optional>
#include <string_view>

#include "analysis/requests/client_requests.h"
#include "trace/trace.h"

// Figures that tools name by a quantity and a statistic of it, such as "time_to_first_token.p99".
namespace llmprof::analysis {

// Each completed request is one value; percentiles are interpolated between ranks.
std::optional<double> aiperf_figure(const trace::Trace& trace, const ClientRequests& requests,
                                    std::string_view name);

// Values have weights: times per token count once for each token. A percentile is the first value
// whose cumulated weight reaches it. None if the file does not have all requests of the figure.
std::optional<double> guidellm_figure(const trace::Trace& trace, const ClientRequests& requests,
                                      std::string_view name);

}  // namespace llmprof::analysis
