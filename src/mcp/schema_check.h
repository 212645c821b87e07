#pragma once

#include <string>

#include "mcp/json.h"

namespace llmprof::mcp {

// What is wrong with a value, by the keywords of JSON Schema that our tools use: type, enum,
// properties, required, additionalProperties, items, minimum, maximum, maxLength, maxItems. Empty:
// nothing. The text names the member and, for a mistyped one, the nearest known.
std::string fault_of(const Json& value, const Json& schema, const std::string& name = "arguments");

}  // namespace llmprof::mcp
