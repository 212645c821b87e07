#pragma once

#include <functional>
#include <string_view>

namespace llmprof::session {

// Receives one line about what is being done, for people who wait.
using Progress = std::function<void(std::string_view)>;

}  // namespace llmprof::session
