#pragma once

#include <string>

#include "profile/json/described.h"

namespace llmprof::profile::json {

// A value of a described type as a whole document, with a line break at the end.
std::string json_text(const Type& type, const void* value);

template <Described T>
std::string described_to_json(const T& value) {
  return json_text(type_of<T>(), &value);
}

}  // namespace llmprof::profile::json
