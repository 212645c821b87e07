#include "collector/cuda/alarms.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace llmprof::collector {
namespace {

constinit Alarm of_worker;
constinit Alarm of_counters;

}  // namespace

void Alarm::open() {
  descriptor_.store(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), std::memory_order_release);
}

void Alarm::sleep(int milliseconds) {
  pollfd waiting = {descriptor(), POLLIN, 0};
  if (poll(&waiting, 1, milliseconds) > 0) silence();
}

void Alarm::silence() {
  uint64_t rings = 0;
  [[maybe_unused]] const ssize_t bytes = read(descriptor(), &rings, sizeof rings);
}

void Alarm::ring() {
  const uint64_t one = 1;
  if (const int known = descriptor(); known >= 0) {
    [[maybe_unused]] const ssize_t bytes = write(known, &one, sizeof one);
  }
}

Alarm& worker_alarm() { return of_worker; }
Alarm& counter_alarm() { return of_counters; }

void wake_collector() {
  of_worker.ring();
  of_counters.ring();
}

}  // namespace llmprof::collector
