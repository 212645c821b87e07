#pragma once

#include <pthread.h>

// What the collector's threads sleep on. No file descriptors: a program may close those that it
// does not know, and reuse their numbers.
namespace llmprof::collector {

class Alarm {
 public:
  // Until it rings, but no longer than `milliseconds`.
  void sleep(int milliseconds);
  // From any thread; if nobody sleeps yet, the next sleep() returns at once.
  void ring();

 private:
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t rung_ = PTHREAD_COND_INITIALIZER;
  bool rings_ = false;
};

Alarm& worker_alarm();
Alarm& counter_alarm();

// Both threads check at once what is to be done.
void wake_collector();

}  // namespace llmprof::collector
