#include "profile/json/profile_type.h"

#include "profile/profile.h"

namespace llmprof::profile::json {

const Type& profile_type() { return type_of<Profile>(); }

}  // namespace llmprof::profile::json
