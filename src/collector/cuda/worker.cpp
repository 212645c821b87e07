#include "collector/cuda/worker.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include "collector/clock.h"
#include "collector/cuda/collection.h"
#include "collector/cuda/command_socket.h"
#include "collector/cuda/counters.h"
#include "collector/cuda/driver_facts.h"
#include "collector/cuda/resources.h"
#include "collector/cuda/schedule.h"
#include "collector/recorder.h"

namespace llmprof::collector {
namespace {

// What a killed process loses is at most what CUPTI held: 50 ms and the time of a hand-over.
constexpr int kLook = 20;                  // ms
constexpr int64_t kHandOver = 50'000'000;  // ns
constexpr int kIdleLook = 200;             // ms, while nothing is recorded

constinit CounterSettings counter_settings;
constinit std::atomic<bool> stopping = false;
constinit pthread_t worker_thread = {};
// The process that has the thread: a forked child has none.
constinit std::atomic<pid_t> owner = 0;

bool recording_now() {
  const CollectionState state = collection_state();
  return state == CollectionState::tracing || state == CollectionState::paused;
}

void sample_while_allowed(bool& sampling) {
  static constinit bool told_to_stop = false;
  if (may_sample() && !sampling) {
    note_sampling(true);
    sampling = true;
    prepare_counters(counter_settings);
    // Setting up loads libraries, whose handlers run before those that were there: counters end
    // before them.
    if (!told_to_stop) told_to_stop = std::atexit(stop_worker) == 0;
    start_counters();
  }
  if (sampling && may_sample()) drain_counters();
  if (sampling && !may_sample()) {
    stop_counters();
    sampling = false;
    note_sampling(false);
  }
}

void* work(void* /*unused*/) {
  prctl(PR_SET_NAME, "llmprof");
  int64_t last_hand_over = now_ns();
  bool sampling = false;
  while (!stopping.load(std::memory_order_acquire)) {
    answer_commands(recording_now() ? kLook : kIdleLook);
    look_at_clock();
    if (recording_now()) prepare_chunks();
    if (!cuda_is_ready()) continue;
    write_driver_facts(counter_settings.sensors);
    sample_while_allowed(sampling);
    sample_sensors();
    if (const int64_t now = now_ns(); now - last_hand_over >= kHandOver) {
      hand_over_records();
      last_hand_over = now;
    }
    finish_detaching();
  }
  if (sampling) stop_counters();
  end_counters();
  note_sampling(false);
  return nullptr;
}

}  // namespace

void start_worker(const CounterSettings& counters) {
  counter_settings = counters;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // Signals are for the program's threads.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (pthread_create(&worker_thread, nullptr, work, nullptr) == 0) {
    owner.store(getpid(), std::memory_order_release);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void stop_worker() {
  constexpr time_t kPatience = 2;  // s
  if (pid_t ours = getpid(); !owner.compare_exchange_strong(ours, 0)) return;
  stopping.store(true, std::memory_order_release);
  wake_for_commands();
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += kPatience;
  pthread_timedjoin_np(worker_thread, nullptr, &until);
}

}  // namespace llmprof::collector
