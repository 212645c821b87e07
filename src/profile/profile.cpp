#include "profile/profile.h"

namespace llmprof::profile {

Profile::Profile() = default;
Profile::Profile(const Profile& other) = default;
Profile::Profile(Profile&& other) noexcept = default;
Profile& Profile::operator=(const Profile& other) = default;
Profile& Profile::operator=(Profile&& other) noexcept = default;
Profile::~Profile() = default;

}  // namespace llmprof::profile
