#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/load_sweep.h"
#include "profile/requests.h"

// Several loads of one server: throughput against latency.
namespace llmprof::analysis {

// One load, in the words of the sweep. `requests`: null if it gave no figures.
profile::SweptLoad swept_load(double value, std::string record, bool held,
                              const profile::Requests* requests);

// The knee is the load with the largest power (Kleinrock): completed requests per second over the
// mean end-to-end time. Only loads that were held and not over-saturated can be it. It needs three
// loads with figures: two cannot show a bend.
std::optional<double> find_knee(const std::vector<profile::SweptLoad>& loads);
// Of several with the same goodput, the first.
std::optional<double> find_best_goodput(const std::vector<profile::SweptLoad>& loads);

}  // namespace llmprof::analysis
