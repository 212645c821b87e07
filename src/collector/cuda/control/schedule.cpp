#include "collector/cuda/control/schedule.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>

#include "collector/clock.h"
#include "collector/cuda/control/collection.h"
#include "collector/cuda/control/settings.h"
#include "collector/cuda/counters/counters.h"
#include "collector/cuda/tracing/gpu_work.h"
#include "collector/cuda/tracing/resources.h"
#include "collector/device_records.h"
#include "collector/range_watcher.h"
#include "collector/roles.h"

namespace llmprof::collector {
namespace {

constexpr uint64_t kNever = UINT64_MAX;
// Steps of one window under an overhead budget.
constexpr uint64_t kBudgetWindow = 8;
// What tracing costs, for the budget's reckoning, ns (docs/measurements.md): a launch 2 us, a
// kernel of a graph 0.25 us and more where kernels are tiny, attaching to a program that runs 8 to
// 17 ms.
constexpr int64_t kCostOfLaunch = 2'000;
constexpr int64_t kCostInGraph = 500;
constexpr int64_t kCostOfAttaching = 15'000'000;

constinit Settings settings;
constinit std::atomic<bool> armed = false;
constinit std::atomic<uint64_t> steps = 0;
constinit std::atomic<uint64_t> requests = 0;
// The step with which something changes.
constinit std::atomic<uint64_t> next_change = kNever;
constinit std::atomic<int64_t> arm_time = 0;  // by delay; 0: not so

// Guarded by it: the rest. Changes come at a step's beginning, not within steps.
constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
constinit uint64_t armed_at_step = 0;
// Of the budget: windows so far, and what was before them.
constinit int64_t windows = 0;
constinit int64_t steps_since = 0;
constinit int64_t tracing_before = 0;
constinit int64_t changes_before = 0;

class Locked {
 public:
  Locked() { pthread_mutex_lock(&lock); }
  ~Locked() { pthread_mutex_unlock(&lock); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

bool has_duty() { return settings.duty_period > 0; }
bool has_budget() { return settings.overhead_budget > 0; }

void disarm_locked(CollectionReason reason) {
  armed.store(false, std::memory_order_release);
  next_change.store(kNever, std::memory_order_relaxed);
  stop_tracing(reason);
}

bool arm_locked(CollectionReason reason) {
  if (armed.load(std::memory_order_relaxed)) return true;
  if (!start_tracing(reason)) return false;
  if (reason != CollectionReason::program_start) note_cuda_is_ready();
  armed_at_step = steps.load(std::memory_order_relaxed);
  uint64_t first = has_budget() || has_duty() ? armed_at_step + 1 : kNever;
  if (settings.steps > 0) {
    const uint64_t last = armed_at_step + 1 + settings.steps;
    first = last < first ? last : first;
  }
  next_change.store(first, std::memory_order_relaxed);
  armed.store(true, std::memory_order_release);
  return true;
}

// Of every duty_period steps the first duty_traced are traced.
uint64_t follow_duty(uint64_t step) {
  const uint64_t place = (step - armed_at_step - 1) % settings.duty_period;
  const uint64_t next_period = step + settings.duty_period - place;
  if (place < settings.duty_traced) {
    start_tracing(CollectionReason::duty);
    return step + settings.duty_traced - place;
  }
  if (pause_tracing(CollectionReason::duty)) return step + 1;
  rest_tracing();
  return next_period;
}

int64_t cost_of_tracing() {
  const KernelCounts kernels = kernels_seen();
  return static_cast<int64_t>(kernels.launched) * kCostOfLaunch +
         static_cast<int64_t>(kernels.in_graphs) * kCostInGraph;
}

// A window is traced whenever what all windows cost, with this one as dear as they were, is within
// the budget. In between CUPTI is not attached. What came before the first step (start, warm-up,
// prefill) was traced whole and is not counted.
uint64_t follow_budget(uint64_t step) {
  if (windows == 0) {
    ++windows;
    steps_since = now_ns();
    tracing_before = cost_of_tracing();
    changes_before = time_spent_on_changes();
    return step + kBudgetWindow;
  }
  const CollectionState state = collection_state();
  if (state == CollectionState::tracing) stop_tracing(CollectionReason::budget);
  if (state != CollectionState::detached) return step + 1;
  const auto spent = static_cast<double>(cost_of_tracing() - tracing_before +
                                         time_spent_on_changes() - changes_before);
  const double expected = spent + spent / static_cast<double>(windows) + kCostOfAttaching;
  const auto elapsed = static_cast<double>(now_ns() - steps_since);
  if (expected > settings.overhead_budget * elapsed) return step + 1;
  ++windows;
  start_tracing(CollectionReason::budget);
  return step + kBudgetWindow;
}

void change_at(uint64_t step) {
  const Locked locked;
  if (step < next_change.load(std::memory_order_relaxed) || !armed.load()) return;
  note_step(step);
  if (settings.steps > 0 && step > armed_at_step + settings.steps) {
    return disarm_locked(CollectionReason::step_limit);
  }
  uint64_t next = kNever;
  if (has_budget()) {
    next = follow_budget(step);
  } else if (has_duty()) {
    next = follow_duty(step);
  }
  if (settings.steps > 0) {
    const uint64_t last = armed_at_step + settings.steps + 1;
    next = last < next ? last : next;
  }
  next_change.store(next, std::memory_order_relaxed);
}

void step_begins() {
  const uint64_t step = steps.fetch_add(1, std::memory_order_relaxed) + 1;
  if (step >= next_change.load(std::memory_order_relaxed)) change_at(step);
}

// A duty cycle is for steps: what lies between them, prefill above all, is traced whole.
void stage_begins() {
  ask_for_sensors();
  if (!has_duty() || has_budget() || !armed.load(std::memory_order_relaxed)) return;
  if (collection_state() != CollectionState::paused) return;
  const Locked locked;
  note_step(steps.load(std::memory_order_relaxed));
  start_tracing(CollectionReason::duty);
  next_change.store(steps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// What the collector waits for, so that a log without GPU work says why it has none.
void write_waiting() {
  wire::Waiting waiting{now_ns(), wire::WaitsFor::delay, 0, settings.delay_ms, 0};
  if (settings.arm == Settings::Arm::command) waiting.what = wire::WaitsFor::command;
  if (settings.arm == Settings::Arm::range) {
    waiting.what = wire::WaitsFor::range;
    waiting.range = text_key(secure_getenv("LLMPROF_ARM"));
  }
  write_device_record(wire::RecordType::waiting, waiting);
}

void range_opens(uint8_t roles) {
  if ((roles & kArmRole) != 0) {
    const Locked locked;
    arm_locked(CollectionReason::arm_range);
  }
  if ((roles & kRequestRole) != 0) requests.fetch_add(1, std::memory_order_relaxed);
  if ((roles & kStageRole) != 0) stage_begins();
  if ((roles & kStepRole) != 0) step_begins();
}

void arming_range_closed() {
  const Locked locked;
  note_step(steps.load(std::memory_order_relaxed));
  disarm_locked(CollectionReason::arm_range);
}

constexpr RangeWatcher kWatcher = {range_opens, arming_range_closed};

}  // namespace

void begin_schedule(const Settings& asked) {
  settings = asked;
  begin_collection(settings.every_call);
  const bool waits = settings.arm != Settings::Arm::start || settings.delay_ms > 0;
  if (waits) write_waiting();
  range_watcher.store(&kWatcher, std::memory_order_release);
  if (settings.arm != Settings::Arm::start) return;
  if (settings.delay_ms > 0) {
    constexpr int64_t kMillisecond = 1'000'000;
    arm_time.store(now_ns() + settings.delay_ms * kMillisecond, std::memory_order_release);
    return;
  }
  const Locked locked;
  arm_locked(CollectionReason::program_start);
}

void abandon_schedule() { range_watcher.store(nullptr, std::memory_order_release); }

const char* arm_by_command() {
  const Locked locked;
  if (armed.load()) return "ok: armed already\n";
  note_step(steps.load(std::memory_order_relaxed));
  if (!arm_locked(CollectionReason::command)) {
    return "error: the collector stood down: another tool uses CUPTI, or CUPTI failed\n";
  }
  return "ok: armed\n";
}

const char* disarm_by_command() {
  const Locked locked;
  if (!armed.load()) return "ok: not armed\n";
  note_step(steps.load(std::memory_order_relaxed));
  disarm_locked(CollectionReason::command);
  return "ok: disarmed\n";
}

const char* collection_words() {
  switch (collection_state()) {
    case CollectionState::tracing:
      return "ok: tracing\n";
    case CollectionState::paused:
      return "ok: attached, not tracing\n";
    case CollectionState::stood_down:
      return "ok: stood down\n";
    default:
      return "ok: not attached\n";
  }
}

uint64_t requests_begun() { return requests.load(std::memory_order_relaxed); }

void look_at_clock() {
  const int64_t due = arm_time.load(std::memory_order_acquire);
  if (due == 0 || now_ns() < due) return;
  arm_time.store(0, std::memory_order_relaxed);
  const Locked locked;
  arm_locked(CollectionReason::delay);
}

}  // namespace llmprof::collector
