#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/error.h"
#include "mcp/protocol.h"

namespace llmprof::mcp {

inline constexpr std::string_view kHttpPath = "/mcp";

// Serves clients on 127.0.0.1, each message a POST to kHttpPath, until `stop` is set. Calls
// `listening` with the port (0: one that is free) once clients can connect. Web pages of other
// hosts are refused, also those whose name was made to point to this machine.
Result<void> serve_http(const Protocol& protocol, uint16_t port,
                        const std::function<void(uint16_t port)>& listening,
                        const std::atomic<bool>& stop);

}  // namespace llmprof::mcp
