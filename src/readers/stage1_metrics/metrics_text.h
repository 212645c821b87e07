#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace llmprof::readers {

// The keys of a JSON text's outermost object, as far as the text reaches; none where it is not an
// object.
std::set<std::string> outermost_keys(std::string_view text);

// The text as JSON: Python writes NaN, Infinity and -Infinity, which become null, and some editors
// put a byte order mark in front, which goes. `non_finite` counts the former.
std::string as_plain_json(std::string_view text, uint64_t& non_finite);

}  // namespace llmprof::readers
