#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"

namespace llmprof::profile {

// profile.json, as docs/profile-schema.md and docs/profile.schema.json describe it. What it holds,
// read back, is the same profile to the last digit.
std::string to_json(const Profile& profile);

// Members of it by themselves, as they stand there: "stages", "token_times".
std::string to_json(const std::vector<Stage>& stages);
std::string to_json(const TokenTimes& times);

}  // namespace llmprof::profile
