#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "profile/profile.h"

namespace llmprof::profile {

// Reads what to_json wrote, now or in an earlier release: a field that is missing keeps its
// default, one that is unknown is passed over. Errors are of kind input and name the place
// ("stages[1].wall_ms.mean").
Result<Profile> from_json(std::string_view text);

// The same from a file.
Result<Profile> read_profile(const std::filesystem::path& file);

}  // namespace llmprof::profile
