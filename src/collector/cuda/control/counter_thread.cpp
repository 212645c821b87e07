#include "collector/cuda/control/counter_thread.h"

#include <sys/prctl.h>

#include <cstdlib>

#include "collector/clock.h"
#include "collector/cuda/control/alarms.h"
#include "collector/cuda/control/collection.h"
#include "collector/cuda/control/schedule.h"
#include "collector/cuda/control/thread.h"
#include "collector/cuda/control/worker.h"
#include "collector/cuda/counters/counter_rounds.h"
#include "collector/cuda/tracing/allocations.h"
#include "collector/cuda/tracing/resources.h"

namespace llmprof::collector {
namespace {

constexpr int kLook = 20;       // ms
constexpr int kIdleLook = 200;  // ms, while nothing is recorded
// Where a program's memory lies decides by some percent how long its kernels take, and CUPTI's
// buffers move what is allocated behind them (docs/measurements.md): counters wait until the
// program has its memory, so with its first request or when it allocated nothing for a while.
constexpr int64_t kNoAllocation = 1'000'000'000;  // ns
constexpr int64_t kLongestWait = 5'000'000'000;   // ns, for one that never stops allocating

struct CounterThread {
  CounterSettings settings;
  CollectorThread thread;
};
constinit CounterThread counting;

void stop_both_threads() {
  stop_counter_thread();
  stop_worker();
}

class Sampling {
 public:
  void follow() {
    if (!may_sample()) return end();
    if (!on_ && !begin()) return;
    // Without rounds a detach may come soon, and it would wait for counters to be taken.
    due_ = due_ || !counting.settings.rounds || program_has_its_memory();
    if (!due_) return;
    const uint64_t requests = requests_begun();
    const bool in_rounds = counting.settings.rounds && !was_detached_;
    if (in_rounds && !rounds_.wants_samples(now_ns(), requests)) return rest_counters();
    if (start_counters(in_rounds && requests > 0)) rounds_.begin(now_ns(), requests_begun());
    drain_counters();
  }

  void end() {
    if (!on_) return;
    stop_counters();
    was_detached_ = true;
    on_ = false;
    note_sampling(false);
  }

 private:
  // False: CUPTI is about to be left.
  bool begin() {
    note_sampling(true);
    if (!may_sample()) {
      note_sampling(false);
      return false;
    }
    on_ = true;
    began_ = now_ns();
    prepare_counters(counting.settings);
    // Libraries were loaded, whose handlers run before those that were there: both threads end
    // before them.
    if (!told_to_stop_) told_to_stop_ = std::atexit(stop_both_threads) == 0;
    return true;
  }

  [[nodiscard]] bool program_has_its_memory() const {
    const int64_t now = now_ns();
    return requests_begun() > 0 || now - last_allocation() >= kNoAllocation ||
           now - began_ >= kLongestWait;
  }

  bool on_ = false;
  int64_t began_ = 0;
  bool due_ = false;
  bool told_to_stop_ = false;
  // From then on they stay set up: CUPTI could not take them again.
  bool was_detached_ = false;
  CounterRounds rounds_;
};

void* sample(void* /*unused*/) {
  prctl(PR_SET_NAME, "llmprof-count");
  Sampling sampling;
  while (!counting.thread.must_stop()) {
    counter_alarm().sleep(is_recording() ? kLook : kIdleLook);
    if (!cuda_is_ready()) continue;
    sampling.follow();
    sample_sensors();
  }
  sampling.end();
  end_counters();
  return nullptr;
}

}  // namespace

void start_counter_thread(const CounterSettings& asked) {
  counting.settings = asked;
  counting.thread.start(sample);
}

void stop_counter_thread() { counting.thread.stop(counter_alarm()); }

}  // namespace llmprof::collector
