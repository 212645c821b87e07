#include "cli/stop_signals.h"

#include <csignal>

namespace llmprof::cli {

std::atomic<bool> stop_wanted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" {
static void want_stop(int /*signal*/) { stop_wanted.store(true); }
}

void stop_on_signals() {
  struct sigaction action = {};
  action.sa_handler = want_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

}  // namespace llmprof::cli
