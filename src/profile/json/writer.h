#pragma once

#include <string>

#include "profile/profile.h"

namespace llmprof::profile {

// profile.json, as docs/profile-schema.md and docs/profile.schema.json describe it. What it holds,
// read back, is the same profile to the last digit.
std::string to_json(const Profile& profile);

}  // namespace llmprof::profile
