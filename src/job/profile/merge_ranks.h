#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "job/links/links.h"
#include "job/rank_part.h"
#include "profile/profile.h"

namespace llmprof::job {

// The job's profile, the same for any order of its parts. A part whose profile has no captures is a
// rank that was not recorded, with what is known of it. Two parts of one rank, or of two jobs, are
// an error; so is a job of which no rank was recorded.
Result<profile::Profile> merge_ranks(std::vector<RankPart> parts, const Links& links,
                                     std::string_view tool_version);

}  // namespace llmprof::job
