#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "profile/json/described.h"
#include "profile/profile.h"

namespace llmprof::profile {

// profile.json, as docs/profile-schema.md and docs/profile.schema.json describe it. Reading it back
// gives the same profile to the last digit.
std::string to_json(const Profile& profile);

// Reads the output of to_json, also from earlier releases: a missing field keeps its default, an
// unknown one is ignored. Errors are of kind input and name the place ("stages[1].wall_ms.mean").
Result<Profile> from_json(std::string_view text);

// The same from a file.
Result<Profile> read_profile(const std::filesystem::path& file);

namespace json {

// A value of any described type as an entire document, with a trailing line break.
std::string json_text(const Type& type, const void* value);

template <Described T>
std::string described_to_json(const T& value) {
  return json_text(type_of<T>(), &value);
}

// Fills a value of any described type from an entire document.
Result<void> read_json_text(std::string_view text, const Type& type, void* value);

template <Described T>
Result<T> described_from_json(std::string_view text) {
  T value;
  if (auto read = read_json_text(text, type_of<T>(), &value); !read) {
    return fail_with(read.error());
  }
  return value;
}

}  // namespace json
}  // namespace llmprof::profile
