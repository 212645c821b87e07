#include "collector/cuda/control/tracing_control.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "collector/cuda/control/step_plan.h"
#include "collector/cuda/cupti/cupti_library.h"
#include "collector/cuda/driver/driver.h"
#include "collector/cuda/tracing/api_calls.h"
#include "collector/cuda/tracing/attachment.h"
#include "collector/cuda/tracing/gpu_work.h"
#include "collector/cuda/tracing/memory_calls.h"
#include "collector/cuda/tracing/resources.h"
#include "collector/environment.h"
#include "collector/recorder.h"

namespace llmprof::collector {
namespace {

// The tracing of this process.
struct TracingControl {
  // Held while an event is raised. CUPTI callbacks, which may run while it is held, and the
  // collector's own thread only try to lock it.
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  // Written under the lock, read by any thread.
  std::atomic<ControlState> state = ControlState::disarmed;
  Attachment cupti;
  Draining draining;  // guarded by the lock

  std::atomic<uint64_t> steps = 0;
  std::atomic<int64_t> spent_on_changes = 0;  // ns

  // A thread that samples and one that ends CUPTI each write their own flag (`sampling`; `state` or
  // `standing_down`) and then read the other's, sequentially consistent, so that at least one sees
  // the other.
  std::atomic<bool> sampling = false;
  std::atomic<bool> standing_down = false;
};
constinit TracingControl control;

class TriedLock {
 public:
  TriedLock() : held_(pthread_mutex_trylock(&control.lock) == 0) {}
  ~TriedLock() {
    if (held_) pthread_mutex_unlock(&control.lock);
  }
  TriedLock(const TriedLock&) = delete;
  TriedLock& operator=(const TriedLock&) = delete;

  [[nodiscard]] explicit operator bool() const { return held_; }

 private:
  bool held_;
};

// Why the state changes, and since when this delays the program.
struct Cause {
  TracingReason reason = TracingReason::none;
  int64_t began = now_ns();
  uint32_t result = 0;  // CUPTI's
};

void warn_of(TracingReason reason) {
  if (reason == TracingReason::other_subscriber) {
    write_warning("another tool uses CUPTI (nsys, ncu, torch.profiler): kernels are not recorded");
  } else if (reason == TracingReason::cupti_missing) {
    write_warning("libcupti not found: kernels are not recorded; set LLMPROF_CUPTI to its path");
  } else {
    write_warning("CUPTI failed: kernels are not recorded; its result code is in the log");
  }
}

// The log has fewer states: only those that a reader needs.
void enter(ControlState next, const Cause& cause) {
  const TracingState before = state_in_log(control_state());
  const TracingState now = state_in_log(next);
  const int64_t time = now_ns();
  const int64_t cost = time - cause.began;
  control.spent_on_changes.fetch_add(cost, std::memory_order_relaxed);
  control.state.store(next);
  if (now == before) return;
  const auto capped = static_cast<uint32_t>(cost < UINT32_MAX ? cost : UINT32_MAX);
  write_device_record(
      wire::RecordType::tracing_change,
      wire::TracingChange{time, now, cause.reason, control.steps.load(std::memory_order_relaxed),
                          capped, cause.result});
  if (now == TracingState::stood_down) warn_of(cause.reason);
}

// Why an action failed; reason none: it succeeded.
struct Failure {
  TracingReason reason = TracingReason::none;
  uint32_t result = 0;
};

bool raise_locked(ControlEvent event, const Cause& cause);

void graph_is_replayed(bool tracing, const CUpti_CallbackData& launch) {
  if (tracing) return note_traced_replay(launch);
  if (control.cupti.records()) return note_replay_between(launch);
  note_untraced_replay(launch);
  control.cupti.note_unrecorded_replay();
}

void follow_call(bool tracing, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                 const CUpti_CallbackData& call) {
  if (tracing) return api_callback(domain, id, call);
  if (control.cupti.records()) note_api_call(domain, id, call);
}

void CUPTIAPI on_callback(void* /*user*/, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    return resource_callback(id, static_cast<const CUpti_ResourceData*>(data));
  }
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  const ControlState state = control.state.load(std::memory_order_relaxed);
  const bool tracing = state == ControlState::tracing;
  const bool allocates = is_allocation(domain, id);
  const bool of_memory = is_of_memory(domain, id);
  if (allocates) note_allocation();
  if (of_memory) memory_callback(id, call, correlation_in_log(call.correlationId));
  if (!of_memory || control.cupti.every_call()) follow_call(tracing, domain, id, call);
  if (call.callbackSite == CUPTI_API_ENTER && is_graph_launch(domain, id)) {
    graph_is_replayed(tracing, call);
  }
  if (!is_leaving(state) || call.callbackSite != CUPTI_API_EXIT) return;
  if (const TriedLock locked; locked) {
    raise_locked(ControlEvent::safe_point, {control.draining.reason()});
  }
}

bool is_other_subscriber(CUptiResult result) {
  return result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED ||
         result == CUPTI_ERROR_MAX_LIMIT_REACHED;
}

Failure attach() {
  if (control.cupti.is_attached()) return {};
  if (!load_cupti()) return {TracingReason::cupti_missing};
  const CUptiResult result = control.cupti.attach(on_callback, stand_down);
  if (result == CUPTI_SUCCESS) return {};
  return {
      is_other_subscriber(result) ? TracingReason::other_subscriber : TracingReason::cupti_failed,
      static_cast<uint32_t>(result)};
}

Failure attach_for_memory() {
  const Failure failure = attach();
  if (failure.reason == TracingReason::none) control.cupti.switch_off();
  return failure;
}

Failure start_tracing() {
  if (const Failure failure = attach(); failure.reason != TracingReason::none) return failure;
  if (const auto result = control.cupti.switch_on(); result != CUPTI_SUCCESS) {
    return {TracingReason::cupti_failed, static_cast<uint32_t>(result)};
  }
  begin_window();
  traced_windows().open(last_call());
  return {};
}

void drain(TracingReason reason) {
  traced_windows().close(last_call());
  control.draining.begin(now_ns(), last_launch(), reason);
}

void detach() {
  control.cupti.flush();
  control.cupti.leave();
}

Failure perform(ControlAction action, TracingReason reason) {
  switch (action) {
    case ControlAction::none:
      break;
    case ControlAction::attach:
      return attach_for_memory();
    case ControlAction::start_tracing:
      return start_tracing();
    case ControlAction::close_window:
      traced_windows().close(last_call());
      break;
    case ControlAction::switch_off:
      traced_windows().close(last_call());
      control.cupti.switch_off();
      break;
    case ControlAction::drain:
      drain(reason);
      break;
    case ControlAction::detach:
      detach();
      break;
    case ControlAction::give_way:
      synchronize_context();
      detach();
      break;
    case ControlAction::flush:
      control.cupti.flush();
      break;
  }
  return {};
}

bool raise_locked(ControlEvent event, const Cause& cause) {
  const Transition& asked = transition(control_state(), event);
  if (!asked.taken()) return false;
  const Failure failure = perform(asked.action, cause.reason);
  if (failure.reason != TracingReason::none) {
    const Transition& failed = transition(control_state(), ControlEvent::cupti_fails);
    perform(failed.action, failure.reason);
    enter(failed.next, {failure.reason, cause.began, failure.result});
    return false;
  }
  enter(asked.next, cause);
  if (asked.action == ControlAction::drain) wake_collector();
  return true;
}

void wait_for_sampling_to_end() {
  constexpr int kTurns = 500;
  constexpr useconds_t kTurn = 1000;
  for (int turn = 0; turn < kTurns && control.sampling.load(); ++turn) {
    usleep(kTurn);
  }
}

}  // namespace

void begin_tracing(bool every_call, bool memory) {
  control.cupti.set_every_call(every_call);
  control.cupti.set_memory(memory);
}

ControlState control_state() { return control.state.load(std::memory_order_acquire); }

bool is_recording() { return is_recording(control_state()); }

bool raise(ControlEvent event, TracingReason reason) {
  const Cause cause = {reason};
  const LockGuard locked(control.lock);
  return raise_locked(event, cause);
}

bool close_duty_window() {
  const Cause cause = {TracingReason::duty};
  const LockGuard locked(control.lock);
  const bool graphs = graphs_were_traced();
  return raise_locked(graphs ? ControlEvent::window_closes_graphs : ControlEvent::window_closes,
                      cause) &&
         graphs;
}

void stand_down() {
  const Cause cause = {TracingReason::other_subscriber};
  control.standing_down.store(true);
  wake_collector();
  wait_for_sampling_to_end();
  const LockGuard locked(control.lock);
  raise_locked(ControlEvent::rival_subscribes, cause);
}

void note_step(uint64_t step) { control.steps.store(step, std::memory_order_relaxed); }

int64_t time_spent_on_changes() { return control.spent_on_changes.load(std::memory_order_relaxed); }

void hand_over_records() {
  if (!is_recording()) return;
  // Not while another thread attaches or detaches, which flushes too.
  if (const TriedLock locked; locked) control.cupti.hand_over();
}

bool may_sample() {
  const ControlState state = control.state.load();
  return is_recording(state) && state != ControlState::watching_memory && !is_draining(state) &&
         !is_leaving(state) && !control.standing_down.load();
}

void note_sampling(bool sampling) { control.sampling.store(sampling); }

bool is_detaching() {
  const ControlState state = control_state();
  return is_draining(state) || is_leaving(state);
}

void finish_detaching() {
  if (!is_detaching() || control.sampling.load()) return;
  const TriedLock locked;
  if (!locked) return;  // retried in 5 ms
  const Cause cause = {control.draining.reason()};
  if (is_draining(control_state()) && control.draining.is_complete(cause.began, last_finished())) {
    raise_locked(ControlEvent::work_complete, cause);
  }
  if (is_leaving(control_state()) && control.draining.is_overdue(cause.began)) {
    raise_locked(ControlEvent::safe_point, cause);
  }
}

void end_tracing() {
  const Cause cause = {TracingReason::process_end};
  if (const TriedLock locked; locked) raise_locked(ControlEvent::process_exits, cause);
}

}  // namespace llmprof::collector
