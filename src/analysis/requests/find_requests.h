#pragma once

#include <optional>

#include "analysis/passes/prepare.h"
#include "analysis/stages/stages.h"
#include "base/diagnostics.h"
#include "profile/requests.h"

namespace llmprof::analysis {

// The requests of a client, with their statistics; none without a file of requests.
std::optional<profile::Requests> find_requests(const Prepared& in, const Stages& stages,
                                               Diagnostics& diagnostics);

}  // namespace llmprof::analysis
