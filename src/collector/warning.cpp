#include "collector/warning.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

namespace llmprof::collector {

void write_warning(const char* what) {
  constexpr int kMost = 3;
  constexpr size_t kRoom = 512;
  static constinit std::atomic<int> warnings = 0;
  if (warnings.fetch_add(1, std::memory_order_relaxed) >= kMost) return;
  char line[kRoom];
  const int length = snprintf(line, sizeof line, "llmprof: %s\n", what);
  if (length <= 0) return;
  const size_t bytes =
      static_cast<size_t>(length) < kRoom ? static_cast<size_t>(length) : kRoom - 1;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, bytes);
}

}  // namespace llmprof::collector
