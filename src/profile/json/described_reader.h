#pragma once

#include <string_view>

#include "base/error.h"
#include "profile/json/described.h"

namespace llmprof::profile::json {

// Fills a value of a described type from a whole document. Errors are of kind input and name the
// place ("ranks[1].state").
Result<void> read_json_text(std::string_view text, const Type& type, void* value);

template <Described T>
Result<T> described_from_json(std::string_view text) {
  T value;
  if (auto read = read_json_text(text, type_of<T>(), &value); !read) {
    return fail_with(read.error());
  }
  return value;
}

}  // namespace llmprof::profile::json
