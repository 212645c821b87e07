#pragma once

#include <optional>

#include "compare/model/diff.h"
#include "compare/model/sides.h"

namespace llmprof::compare {

// None unless all runs have completed requests. Texts stay empty.
std::optional<RequestsDiff> diff_requests(const Sides& sides);

}  // namespace llmprof::compare
