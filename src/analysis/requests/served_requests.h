#pragma once

#include <vector>

#include "profile/requests.h"
#include "profile/token_times.h"

namespace llmprof::analysis {

// What an engine's requests saw: one window of the client's requests if they are joined to its
// batches, otherwise the windows that are estimated from its steps.
std::vector<profile::ServedWindow> served_or_estimated(
    const std::optional<profile::Requests>& requests, std::vector<profile::ServedWindow> estimated);

}  // namespace llmprof::analysis
