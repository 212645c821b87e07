#pragma once

#include <string>

#include "profile/json/described.h"
#include "profile/profile.h"

namespace llmprof::profile {

// profile.json, as docs/profile-schema.md and docs/profile.schema.json describe it. Reading it back
// gives the same profile to the last digit.
std::string to_json(const Profile& profile);

namespace json {

// A value of any described type as an entire document, with a trailing line break.
std::string json_text(const Type& type, const void* value);

template <Described T>
std::string described_to_json(const T& value) {
  return json_text(type_of<T>(), &value);
}

}  // namespace json
}  // namespace llmprof::profile
