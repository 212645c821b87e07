#pragma once

#include "profile/json/described.h"

namespace llmprof::profile::json {

// Of Profile: the description of a hundred structs, compiled in one place.
const Type& profile_type();

}  // namespace llmprof::profile::json
