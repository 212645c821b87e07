#pragma once

#include <string>
#include <string_view>

namespace llmprof {

// Appends the base64 (RFC 4648, padded) of some bytes. By hand: no library that we link has it.
void append_base64(std::string& out, std::string_view bytes);

}  // namespace llmprof
