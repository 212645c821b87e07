// The entry point that the CUDA driver calls in cuInit if CUDA_INJECTION64_PATH names this library.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "collector/cuda/control/collection.h"
#include "collector/cuda/control/counter_thread.h"
#include "collector/cuda/control/schedule.h"
#include "collector/cuda/control/settings.h"
#include "collector/cuda/control/tools_around.h"
#include "collector/cuda/control/worker.h"
#include "collector/cuda/driver/driver_facts.h"
#include "collector/cuda/tracing/driver_calls.h"
#include "collector/cuda/tracing/resources.h"
#include "collector/launchers.h"
#include "collector/launches/host_calls.h"
#include "collector/recorder.h"

namespace llmprof::collector {
namespace {

constinit std::atomic<pid_t> initialized_in = 0;

void at_end_of_process() {
  // A forked child has neither the threads nor CUDA.
  if (initialized_in.load(std::memory_order_acquire) != getpid()) return;
  stop_counter_thread();
  stop_worker();
  if (cuda_is_ready()) write_driver_facts(false);
  end_collection();
}

void begin() {
  if (is_process_of_profiler() || is_launcher() || !recording()) return;
  if (initialized_in.exchange(getpid()) != 0) return;
  if (wanted_watch() == Watch::callbacks) {
    watch_driver_calls();
    return;
  }
  const Settings settings = read_settings();
  begin_schedule(settings);
  // Runs before the exit handlers of libraries loaded earlier, such as CUPTI and the driver.
  std::atexit(at_end_of_process);
  pthread_atfork(nullptr, nullptr, abandon_schedule);
  start_worker(settings.counters.sensors);
  start_counter_thread(settings.counters);
}

}  // namespace
}  // namespace llmprof::collector

extern "C" [[gnu::visibility("default")]] int InitializeInjection() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, llmprof::collector::begin);
  return 1;
}
