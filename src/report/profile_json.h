#pragma once

#include <string>

#include "analysis/profile.h"

namespace llmprof::report {

// profile.json, schema version 1 (docs/profile-schema.md). Missing is null, never 0.
std::string to_profile_json(const analysis::Profile& profile, std::string_view tool_version);

}  // namespace llmprof::report
