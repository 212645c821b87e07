#pragma once

#include <cstdint>
#include <optional>

#include "profile/profile.h"

namespace llmprof::exports {

// Unix time at time 0 of the captures with a timeline, on whose clock stages and steps are; none if
// they do not say it, or do not agree.
std::optional<int64_t> wall_clock_of_timeline(const profile::Context& context);

// The same for the times of requests, which have their own clock if they were not joined.
std::optional<int64_t> wall_clock_of_requests(const profile::Profile& profile);

}  // namespace llmprof::exports
