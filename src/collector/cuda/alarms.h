#pragma once

#include <atomic>

// What the collector's threads sleep on.
namespace llmprof::collector {

class Alarm {
 public:
  // By the thread that sleeps, first of all.
  void open();
  // Until it rings, for so many milliseconds at the most.
  void sleep(int milliseconds);
  // For a thread that waits for other things too: readable while it rings.
  [[nodiscard]] int descriptor() const { return descriptor_.load(std::memory_order_acquire); }
  void silence();
  // From any thread; nothing where nobody sleeps yet.
  void ring();

 private:
  std::atomic<int> descriptor_{-1};
};

Alarm& worker_alarm();
Alarm& counter_alarm();

// Both threads look at once at what is to be done.
void wake_collector();

}  // namespace llmprof::collector
