#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace llmprof::collector {

class Alarm;

// A thread of the collector inside the program.
class CollectorThread {
 public:
  void start(void* (*work)(void*));
  // For the thread itself.
  [[nodiscard]] bool must_stop() const { return stopping_.load(std::memory_order_acquire); }
  // Waits for it, up to 2 s.
  void stop(Alarm& alarm);

 private:
  std::atomic<bool> stopping_{false};
  pthread_t thread_{};
  // The process that has the thread: a forked child has none.
  std::atomic<pid_t> owner_{0};
};

}  // namespace llmprof::collector
