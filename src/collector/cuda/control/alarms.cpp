#include "collector/cuda/control/alarms.h"

#include <cstdint>
#include <ctime>

namespace llmprof::collector {
namespace {

constinit Alarm of_worker;
constinit Alarm of_counters;

timespec in(int milliseconds) {
  constexpr int64_t kMillisecond = 1'000'000;
  constexpr int64_t kSecond = 1'000'000'000;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t nanoseconds = now.tv_nsec + milliseconds * kMillisecond;
  return {now.tv_sec + nanoseconds / kSecond, nanoseconds % kSecond};
}

}  // namespace

void Alarm::sleep(int milliseconds) {
  const timespec until = in(milliseconds);
  pthread_mutex_lock(&lock_);
  int result = 0;
  while (!rings_ && result == 0) {
    result = pthread_cond_clockwait(&rung_, &lock_, CLOCK_MONOTONIC, &until);
  }
  rings_ = false;
  pthread_mutex_unlock(&lock_);
}

void Alarm::ring() {
  pthread_mutex_lock(&lock_);
  rings_ = true;
  pthread_cond_signal(&rung_);
  pthread_mutex_unlock(&lock_);
}

Alarm& worker_alarm() { return of_worker; }
Alarm& counter_alarm() { return of_counters; }

void wake_collector() {
  of_worker.ring();
  of_counters.ring();
}

}  // namespace llmprof::collector
