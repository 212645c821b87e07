#include "collector/cuda/control/thread.h"

#include <csignal>
#include <ctime>

#include "collector/cuda/control/alarms.h"

namespace llmprof::collector {

void CollectorThread::start(void* (*work)(void*)) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // Signals are delivered to the program's threads only.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (pthread_create(&thread_, nullptr, work, nullptr) == 0) {
    owner_.store(getpid(), std::memory_order_release);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void CollectorThread::stop(Alarm& alarm) {
  constexpr time_t kPatience = 2;  // s
  if (pid_t ours = getpid(); !owner_.compare_exchange_strong(ours, 0)) return;
  stopping_.store(true, std::memory_order_release);
  alarm.ring();
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += kPatience;
  pthread_timedjoin_np(thread_, nullptr, &until);
}

}  // namespace llmprof::collector
