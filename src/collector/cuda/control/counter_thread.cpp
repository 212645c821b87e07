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

constexpr int kReadInterval = 20;       // ms
constexpr int kIdleReadInterval = 200;  // ms, while nothing is recorded
// The placement of memory changes kernel times by some percent, and CUPTI's buffers shift what is
// allocated after them (docs/measurements.md): counters are enabled once the program has allocated
// its memory, that is with its first request or when it has allocated nothing for a while.
constexpr int64_t kNoAllocation = 1'000'000'000;  // ns
constexpr int64_t kLongestWait = 5'000'000'000;   // ns, for a program that never stops allocating

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
    // Without rounds a detach may follow soon, and would wait for counters to be enabled.
    due_ = due_ || !counting.settings.rounds || program_has_its_memory();
    if (!due_) return;
    const uint64_t requests = requests_begun();
    const bool in_rounds = counting.settings.rounds && !was_detached_;
    if (in_rounds && !rounds_.wants_samples(now_ns(), requests)) return pause_counters();
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
  // False: CUPTI is about to be detached.
  bool begin() {
    note_sampling(true);
    if (!may_sample()) {
      note_sampling(false);
      return false;
    }
    on_ = true;
    began_ = now_ns();
    prepare_counters(counting.settings);
    // Libraries were loaded, whose exit handlers run before ours: both threads must end before
    // them.
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
  // From then on they stay enabled: CUPTI could not enable them again.
  bool was_detached_ = false;
  CounterRounds rounds_;
};

void* sample(void* /*unused*/) {
  prctl(PR_SET_NAME, "llmprof-count");
  Sampling sampling;
  while (!counting.thread.must_stop()) {
    counter_alarm().sleep(is_recording() ? kReadInterval : kIdleReadInterval);
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
