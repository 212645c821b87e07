#include "collector/cuda/control/schedule.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "collector/cuda/control/step_plan.h"
#include "collector/cuda/control/tracing_control.h"
#include "collector/cuda/counters/counters.h"
#include "collector/cuda/tracing/api_calls.h"
#include "collector/cuda/tracing/gpu_work.h"
#include "collector/cuda/tracing/resources.h"
#include "collector/environment.h"
#include "collector/launches/host_calls.h"
#include "collector/names.h"
#include "collector/ranges.h"
#include "collector/recorder.h"

namespace llmprof::collector {
namespace {

// Tracing costs that the overhead budget assumes, ns (docs/measurements.md), per launch and per
// kernel of a graph. A graph's kernels were measured at 250 ns; tiny ones cost more.
constexpr int64_t kCostOfLaunch = 2'000;
constexpr int64_t kCostInGraph = 500;
// Upper bounds: back-to-back launches, tiny kernels of a graph.
constexpr int64_t kMostOfLaunch = 3'000;
constexpr int64_t kMostInGraph = 2'000;

// When this process records.
struct Schedule {
  std::atomic<uint64_t> steps = 0;     // started so far
  std::atomic<uint64_t> requests = 0;  // started so far
  // The step at which the next change is due.
  std::atomic<uint64_t> next_change = kNeverAgain;
  std::atomic<int64_t> arm_time = 0;  // when the delay ends; 0: no delay

  // Guards the members below; locked before that of tracing_control.cpp. Changes happen at the
  // start of a step, never within one.
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  DutyCycle duty;
  StepLimit limit;
  OverheadBudget budget;
  bool in_job = false;
  SharedWindows step_windows;
  SharedWindows stage_windows;
  uint64_t stages = 0;         // started so far
  TimeWindow slice;            // of the budget, until the first step
  bool follows_steps = false;  // instead of time: the program annotates steps
  uint64_t armed_at_step = 0;
};
constinit Schedule schedule;

uint64_t steps_begun() { return schedule.steps.load(std::memory_order_relaxed); }

void set_next_change(uint64_t step) { schedule.next_change.store(step, std::memory_order_relaxed); }

bool is_armed() { return is_armed(control_state()); }

int64_t cost_of_kernels(int64_t of_launch, int64_t in_graph) {
  const KernelCounts kernels = kernels_seen();
  return static_cast<int64_t>(kernels.launched) * of_launch +
         static_cast<int64_t>(kernels.in_graphs) * in_graph;
}

int64_t overhead_so_far() {
  return std::max(cost_of_kernels(kCostOfLaunch, kCostInGraph), schedule.slice.cost()) +
         time_spent_on_changes();
}

int64_t most_by_kernels() { return cost_of_kernels(kMostOfLaunch, kMostInGraph); }

void open_time_window(int64_t now) { schedule.slice.open(now, last_launch(), most_by_kernels()); }

void close_time_window(int64_t now) { schedule.slice.close(now, last_launch(), most_by_kernels()); }

// The first window has been open since the program was armed.
void begin_budget_in_time(int64_t now) {
  schedule.budget.begin(now, overhead_so_far());
  open_time_window(now);
}

void open_slice() {
  open_time_window(now_ns());
  raise(ControlEvent::window_opens, TracingReason::budget);
  wake_collector();  // which sleeps longer while nothing is traced
}

// Runs on a thread of the program, outside CUDA.
void open_slice_before_launch() {
  if (before_launch.exchange(nullptr) == nullptr) return;  // another thread opens it
  const LockGuard locked(schedule.lock);
  if (control_state() == ControlState::between_windows) open_slice();
}

// If a graph were replayed while another thread attaches CUPTI, CUPTI could no longer be finalized
// (docs/collector.md). With the launch interceptor, the launching thread therefore attaches it.
void open_slice_when_safe() {
  if (!times_runtime_calls()) return open_slice();
  before_launch.store(open_slice_before_launch);
}

// Programs that annotate no steps are traced in slices of time.
void follow_budget_in_time(int64_t now) {
  const ControlState state = control_state();
  if (state == ControlState::tracing) {
    if (schedule.slice.is_over(now, last_launch())) {
      raise(ControlEvent::budget_spent, TracingReason::budget);
    }
  } else if (state == ControlState::between_windows) {
    if (schedule.slice.is_open()) close_time_window(now);
    if (before_launch.load() != nullptr) return;  // a window is about to open
    if (schedule.budget.allows_window(now, overhead_so_far())) open_slice_when_safe();
  }
}

void disarm_locked(TracingReason reason) {
  set_next_change(kNeverAgain);
  raise(ControlEvent::disarm, reason);
}

bool arm_locked(TracingReason reason) {
  if (is_armed()) return true;
  if (!raise(ControlEvent::arm, reason)) return false;
  if (reason != TracingReason::program_start) note_cuda_is_ready();
  schedule.armed_at_step = steps_begun();
  if (schedule.budget.is_set() && steps_begun() == 0) begin_budget_in_time(now_ns());
  const bool in_windows = schedule.budget.is_set() || schedule.duty.is_set();
  set_next_change(std::min(in_windows ? schedule.armed_at_step + 1 : kNeverAgain,
                           schedule.limit.end(schedule.armed_at_step)));
  return true;
}

// Returns the step at which it changes next.
uint64_t follow_duty(uint64_t step) {
  // Ranks may be armed at different steps.
  const uint64_t from = schedule.in_job ? 0 : schedule.armed_at_step;
  const DutyCycle::Place place = schedule.duty.at(step, from);
  if (place.traced) {
    raise(ControlEvent::window_opens, TracingReason::duty);
    return place.next_change;
  }
  if (close_duty_window()) return step + 1;
  raise(ControlEvent::graphs_settled, TracingReason::duty);
  return place.next_change;
}

// The end of a window that starts with `step`. Ranks that were armed within one end it together.
uint64_t window_end(uint64_t step) {
  constexpr uint64_t kSteps = OverheadBudget::kWindowSteps;
  return step + kSteps - (schedule.in_job ? (step - 1) % kSteps : 0);
}

// Whether this rank can afford the window that may open now, at the `count`-th step or stage.
bool affords_window(SharedWindows& windows, uint64_t count) {
  if (!windows.may_open(count)) return false;
  if (schedule.budget.allows_window(now_ns(), overhead_so_far())) return true;
  windows.widen();
  return false;
}

// CUPTI is detached between windows.
uint64_t follow_budget(uint64_t step) {
  const ControlState state = control_state();
  // From now on steps decide, not time.
  if (!schedule.follows_steps && state == ControlState::tracing) {
    schedule.follows_steps = true;
    schedule.budget.begin(now_ns(), overhead_so_far());
    return window_end(step);
  }
  schedule.follows_steps = true;
  if (state == ControlState::tracing) raise(ControlEvent::budget_spent, TracingReason::budget);
  if (state != ControlState::between_windows || !affords_window(schedule.step_windows, step)) {
    return schedule.step_windows.next(step);
  }
  raise(ControlEvent::window_opens, TracingReason::budget);
  return window_end(step);
}

void change_at(uint64_t step) {
  const LockGuard locked(schedule.lock);
  if (step < schedule.next_change.load(std::memory_order_relaxed)) return;
  if (!is_armed()) return set_next_change(kNeverAgain);
  note_step(step);
  const uint64_t end = schedule.limit.end(schedule.armed_at_step);
  if (step >= end) return disarm_locked(TracingReason::step_limit);
  uint64_t next = kNeverAgain;
  if (schedule.budget.is_set()) {
    next = follow_budget(step);
  } else if (schedule.duty.is_set()) {
    next = follow_duty(step);
  }
  set_next_change(std::min(next, end));
}

void step_begins() {
  const uint64_t step = schedule.steps.fetch_add(1, std::memory_order_relaxed) + 1;
  if (step >= schedule.next_change.load(std::memory_order_relaxed)) change_at(step);
}

bool is_between_duty_windows() {
  const ControlState state = control_state();
  return state == ControlState::paused || state == ControlState::settling;
}

// The first stage is traced at any cost, so that there is one of each kind; later ones if the
// budget allows a window.
void stage_begins_in_budget() {
  const LockGuard locked(schedule.lock);
  const int64_t now = now_ns();
  const bool first = schedule.stages++ == 0;
  if (!schedule.budget.has_begun() || !is_armed()) return;
  if (control_state() == ControlState::tracing) {
    if (first) open_time_window(now);
    return;
  }
  if (control_state() != ControlState::between_windows) return;
  if (!first && !affords_window(schedule.stage_windows, schedule.stages)) return;
  close_time_window(now);
  open_time_window(now);
  note_step(steps_begun());
  if (raise(ControlEvent::window_opens, TracingReason::budget)) {
    set_next_change(window_end(steps_begun() + 1));
  }
}

// A duty cycle applies to steps: everything between them, above all prefill, is traced in full.
void stage_begins() {
  request_sensors();
  if (schedule.budget.is_set()) return stage_begins_in_budget();
  if (!is_between_duty_windows()) return;
  const LockGuard locked(schedule.lock);
  note_step(steps_begun());
  if (raise(ControlEvent::window_opens, TracingReason::duty)) {
    set_next_change(steps_begun() + 1);
  }
}

void on_range_opened(uint8_t roles) {
  if ((roles & kArmRole) != 0) {
    const LockGuard locked(schedule.lock);
    arm_locked(TracingReason::arm_range);
  }
  if ((roles & kRequestRole) != 0) schedule.requests.fetch_add(1, std::memory_order_relaxed);
  if ((roles & kStageRole) != 0) stage_begins();
  if ((roles & kStepRole) != 0) step_begins();
}

void on_arming_range_closed() {
  const LockGuard locked(schedule.lock);
  note_step(steps_begun());
  disarm_locked(TracingReason::arm_range);
}

constexpr RangeListener kListener = {on_range_opened, on_arming_range_closed};

// Writes what the collector waits for, to explain a log without GPU work.
void write_waiting(const Settings& settings) {
  wire::Waiting waiting{now_ns(), wire::WaitsFor::delay, 0, settings.delay_ms, 0};
  if (settings.arm == Settings::Arm::command) waiting.what = wire::WaitsFor::command;
  if (settings.arm == Settings::Arm::range) {
    waiting.what = wire::WaitsFor::range;
    waiting.range = text_key(secure_getenv("LLMPROF_ARM"));
  }
  write_device_record(wire::RecordType::waiting, waiting);
}

}  // namespace

void begin_schedule(const Settings& settings) {
  schedule.duty = settings.duty;
  schedule.limit = settings.limit;
  schedule.budget = OverheadBudget(settings.overhead_budget * kWindowsOfBudget);
  schedule.in_job = settings.in_job;
  if (settings.in_job) {
    schedule.step_windows = SharedWindows(2 * OverheadBudget::kWindowSteps);
    schedule.stage_windows = SharedWindows(2);
  }
  const bool by_cupti =
      settings.memory == Settings::Memory::armed || settings.memory == Settings::Memory::always;
  begin_tracing(settings.every_call, by_cupti);
  const bool at_once = settings.arm == Settings::Arm::start && settings.delay_ms == 0;
  if (!at_once) write_waiting(settings);
  range_listener.store(&kListener, std::memory_order_release);
  if (!at_once && settings.memory == Settings::Memory::always) {
    raise(ControlEvent::watch_memory, TracingReason::program_start);
  }
  if (at_once) {
    const LockGuard locked(schedule.lock);
    arm_locked(TracingReason::program_start);
  } else if (settings.arm == Settings::Arm::start) {
    constexpr int64_t kMillisecond = 1'000'000;
    schedule.arm_time.store(now_ns() + settings.delay_ms * kMillisecond, std::memory_order_release);
  }
}

void abandon_schedule() { range_listener.store(nullptr, std::memory_order_release); }

const char* arm_by_command() {
  const LockGuard locked(schedule.lock);
  if (is_armed()) return "ok: already armed\n";
  note_step(steps_begun());
  if (!arm_locked(TracingReason::command)) {
    return "error: the collector has stood down: another tool uses CUPTI, or CUPTI failed\n";
  }
  return "ok: armed\n";
}

const char* disarm_by_command() {
  const LockGuard locked(schedule.lock);
  if (!is_armed()) return "ok: not armed\n";
  note_step(steps_begun());
  disarm_locked(TracingReason::command);
  return "ok: disarmed\n";
}

const char* describe_state() {
  switch (state_in_log(control_state())) {
    case TracingState::tracing:
      return "ok: tracing\n";
    case TracingState::paused:
      return "ok: attached, not tracing\n";
    case TracingState::stood_down:
      return "ok: stood down\n";
    default:
      return "ok: not attached\n";
  }
}

void follow_time() {
  if (!schedule.budget.is_set() || steps_begun() > 0) return;
  const LockGuard locked(schedule.lock);
  if (is_armed() && schedule.budget.has_begun()) follow_budget_in_time(now_ns());
}

uint64_t requests_begun() { return schedule.requests.load(std::memory_order_relaxed); }

void arm_when_due() {
  const int64_t due = schedule.arm_time.load(std::memory_order_acquire);
  if (due == 0 || now_ns() < due) return;
  schedule.arm_time.store(0, std::memory_order_relaxed);
  const LockGuard locked(schedule.lock);
  arm_locked(TracingReason::delay);
}

}  // namespace llmprof::collector
