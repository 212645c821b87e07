#pragma once

#include <pthread.h>

// What the collector's threads sleep on. No descriptors: a program may close those that it does not
// know, and open its own in their place.
namespace llmprof::collector {

class Alarm {
 public:
  // Until it rings, for so many milliseconds at the most.
  void sleep(int milliseconds);
  // From any thread; one that does not sleep yet will not.
  void ring();

 private:
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t rung_ = PTHREAD_COND_INITIALIZER;
  bool rings_ = false;
};

Alarm& worker_alarm();
Alarm& counter_alarm();

// Both threads look at once at what is to be done.
void wake_collector();

}  // namespace llmprof::collector
