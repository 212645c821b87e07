#pragma once

#include "base/error.h"
#include "mcp/protocol.h"

namespace llmprof::mcp {

// Serves one client over two descriptors, one message per line, until the client closes its side.
// Calls that were made by then are still answered, unless nobody reads the answers.
Result<void> serve_stdio(const Protocol& protocol, int input, int output);

}  // namespace llmprof::mcp
