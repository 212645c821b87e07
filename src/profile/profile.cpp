#include "profile/profile.h"

#include <algorithm>

// What would otherwise be compiled in every unit that uses a profile.
namespace llmprof::profile {

Profile::Profile() = default;
Profile::Profile(const Profile& other) = default;
Profile::Profile(Profile&& other) noexcept = default;
Profile& Profile::operator=(const Profile& other) = default;
Profile& Profile::operator=(Profile&& other) noexcept = default;
Profile::~Profile() = default;

const Stage* find_stage(const Profile& profile, std::string_view name) {
  const auto found = std::ranges::find(profile.stages, name, &Stage::name);
  return found == profile.stages.end() ? nullptr : &*found;
}

std::optional<size_t> LaterNames::find_or_add(std::string_view name, size_t most) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(names_, name);
  const auto index = static_cast<size_t>(found - names_.begin());
  if (found != names_.end()) return index;
  if (index >= most) return std::nullopt;
  names_.emplace_back(name);
  return index;
}

std::string_view LaterNames::at(size_t index) {
  const std::scoped_lock lock(mutex_);
  return names_.at(index);
}

}  // namespace llmprof::profile
