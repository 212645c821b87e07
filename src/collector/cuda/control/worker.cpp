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
#include "collector/rank_facts.h"
#include "collector/recorder.h"

namespace llmprof::collector {
namespace {

// A killed process loses at most what CUPTI held: 50 ms plus the time of a hand-over.
constexpr int kWakeInterval = 20;                  // ms
constexpr int64_t kHandOverInterval = 50'000'000;  // ns
constexpr int kDetachingInterval = 5;              // ms, with a hand-over each
constexpr int64_t kTitleInterval = 1'000'000'000;  // ns
constexpr int kIdleInterval = 100;  // ms, while nothing is recorded: the latency of `llmprof arm`

struct Worker {
  bool may_ask_nvml = false;
  CollectorThread thread;
};
constinit Worker worker;

int next_interval() {
  if (is_detaching()) return kDetachingInterval;
  return is_recording() ? kWakeInterval : kIdleInterval;
}

void* run_worker(void* /*unused*/) {
  prctl(PR_SET_NAME, "llmprof");
  int64_t last_hand_over = now_ns();
  int64_t last_title = last_hand_over;
  answer_commands();  // opens the socket
  while (!worker.thread.must_stop()) {
    worker_alarm().sleep(next_interval());
    answer_commands();
    arm_when_due();
    if (is_recording()) map_chunks_ahead();
    if (!cuda_is_ready()) continue;
    write_driver_facts(worker.may_ask_nvml);
    if (const int64_t now = now_ns(); now - last_hand_over >= kHandOverInterval || is_detaching()) {
      hand_over_records();
      last_hand_over = now;
    }
    if (const int64_t now = now_ns(); now - last_title >= kTitleInterval) {
      write_process_title();
      last_title = now;
    }
    follow_time();
    finish_detaching();
  }
  return nullptr;
}

}  // namespace

void start_worker(bool sensors) {
  worker.may_ask_nvml = sensors;
  worker.thread.start(run_worker);
}

void stop_worker() { worker.thread.stop(worker_alarm()); }

}  // namespace llmprof::collector
