#pragma once

#include <atomic>

namespace llmprof::cli {

// Set by SIGINT, SIGTERM or SIGHUP once stop_on_signals was called: work ends and keeps what it
// has. A second signal ends llmprof at once, by its default action.
extern std::atomic<bool> stop_wanted;
void stop_on_signals();

}  // namespace llmprof::cli
