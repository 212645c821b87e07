#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "job/links/links.h"
#include "job/rank_part.h"
#include "profile/profile.h"

namespace llmprof::job {

// The job's profile, independent of the order of its parts. A part whose profile has no captures is
// a rank that was not recorded. It is an error if two parts have the same rank or different jobs,
// or if no rank was recorded.
Result<profile::Profile> merge_ranks(std::vector<RankPart> parts, const Links& links,
                                     std::string_view tool_version);

}  // namespace llmprof::job
