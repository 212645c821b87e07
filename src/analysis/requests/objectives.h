#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "profile/requests.h"

namespace llmprof::analysis {

// Limits as --slo states them: "ttft=500ms,itl=50ms", of ttft, itl, tpot and e2e, in us, ms or s.
Result<std::vector<profile::Objective>> parse_objectives(std::string_view text);

}  // namespace llmprof::analysis
