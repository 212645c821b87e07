#include "collector/cuda/control/worker.h"

#include <sys/prctl.h>

#include "collector/clock.h"
#include "collector/cuda/control/alarms.h"
#include "collector/cuda/control/collection.h"
#include "collector/cuda/control/command_socket.h"
#include "collector/cuda/control/schedule.h"
#include "collector/cuda/control/thread.h"
#include "collector/cuda/driver/driver_facts.h"
#include "collector/cuda/tracing/resources.h"
#include "collector/recorder.h"

namespace llmprof::collector {
namespace {

// What a killed process loses is at most what CUPTI held: 50 ms and the time of a hand-over.
constexpr int kLook = 20;                  // ms
constexpr int64_t kHandOver = 50'000'000;  // ns
constexpr int kDetachingLook = 5;          // ms, with a hand-over each
constexpr int kIdleLook = 100;  // ms, while nothing is recorded: until `llmprof arm` is heard

struct Worker {
  bool may_ask_nvml = false;
  CollectorThread thread;
};
constinit Worker worker;

int next_look() {
  if (is_detaching()) return kDetachingLook;
  return is_recording() ? kLook : kIdleLook;
}

void* work(void* /*unused*/) {
  prctl(PR_SET_NAME, "llmprof");
  int64_t last_hand_over = now_ns();
  answer_commands();  // from now on others reach it
  while (!worker.thread.must_stop()) {
    worker_alarm().sleep(next_look());
    answer_commands();
    look_at_clock();
    if (is_recording()) prepare_chunks();
    if (!cuda_is_ready()) continue;
    write_driver_facts(worker.may_ask_nvml);
    if (const int64_t now = now_ns(); now - last_hand_over >= kHandOver || is_detaching()) {
      hand_over_records();
      last_hand_over = now;
    }
    finish_detaching();
  }
  return nullptr;
}

}  // namespace

void start_worker(bool sensors) {
  worker.may_ask_nvml = sensors;
  worker.thread.start(work);
}

void stop_worker() { worker.thread.stop(worker_alarm()); }

}  // namespace llmprof::collector
