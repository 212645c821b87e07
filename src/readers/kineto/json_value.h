#pragma once

#include <simdjson.h>

#include <algorithm>
#include <string_view>

namespace llmprof::readers {

// A value's text from its first character to the next structural one, never beyond `end`, the end
// of the JSON text: where that breaks off within a value, simdjson 3.0 takes any length for it. The
// byte at `end` must be 0, so that simdjson finds an error there and goes no further.
inline std::string_view json_token(simdjson::ondemand::value& value, const char* end) {
  const std::string_view token = value.raw_json_token();
  const auto left = static_cast<size_t>(std::max<std::ptrdiff_t>(end - token.data(), 0));
  return {token.data(), std::min(token.size(), left)};
}

}  // namespace llmprof::readers
