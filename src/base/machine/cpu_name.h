#pragma once

#include <string>
#include <string_view>

namespace llmprof {

// "Neoverse-N1"; from the text of /proc/cpuinfo, which on arm64 has numbers only. Empty if it
// has neither.
std::string cpu_name(std::string_view cpuinfo);

}  // namespace llmprof
