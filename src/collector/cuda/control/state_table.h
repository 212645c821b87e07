#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "wire/cuda_records.h"

// The collector's control as one table: for each state and event, the next state and the action on
// the way there. Plain values without CUPTI; tracing_control.cpp performs the actions.
// docs/collector.md draws it.
namespace llmprof::collector {

enum class ControlState : uint8_t {
  disarmed,         // waits to be armed; CUPTI is not attached
  watching_memory,  // the same, but CUPTI is attached and records only GPU memory
  tracing,          // armed: kernels, memory operations and calls are recorded
  settling,  // between the windows of a duty cycle: CUPTI still records, to complete the last
             // window's graph replays; nothing new is kept
  paused,    // between the windows of a duty cycle: CUPTI is attached and records nothing
  window_draining,  // a window of the overhead budget has closed; waits for the work launched in it
  window_leaving,   // its work is complete; CUPTI is detached at the next safe point
  between_windows,  // armed, CUPTI is not attached: waits until the budget allows a window
  draining,         // disarmed; waits for the work launched while tracing
  leaving,          // disarmed, its work is complete; CUPTI is detached at the next safe point
  exiting,          // the process exits; CUPTI is attached, its records are flushed
  stood_down,       // permanently: another tool uses CUPTI, or CUPTI failed
};
inline constexpr size_t kControlStates = 12;

enum class ControlEvent : uint8_t {
  watch_memory,          // program start, if memory is recorded before the collector is armed
  arm,                   // program start, the arming range, the delay or `llmprof arm`
  disarm,                // the arming range closed, the step limit or `llmprof disarm`
  window_opens,          // of a duty cycle or a budget, or a stage starts between duty windows
  window_closes,         // of a duty cycle; no graph was replayed while tracing
  window_closes_graphs,  // of a duty cycle; graphs were replayed while tracing
  graphs_settled,        // a step after window_closes_graphs: each graph was replayed once more
  budget_spent,          // the window of an overhead budget is over
  work_complete,         // all work launched while tracing has been recorded, or took too long
  safe_point,            // a CUDA call of the program returns, or it has made none for a while
  rival_subscribes,      // another tool in the process asks for CUPTI
  cupti_fails,           // libcupti is missing, taken by another tool, or a call of it failed
  process_exits,         // by exit()
};
inline constexpr size_t kControlEvents = 13;

enum class ControlAction : uint8_t {
  none,
  attach,         // without records of GPU work
  start_tracing,  // attach if CUPTI is not attached, switch its records on, open a window
  close_window,   // work launched from now on is not kept
  switch_off,     // close the window and switch CUPTI's records off
  drain,          // close the window and note the last launch, whose kernel is waited for
  detach,         // flush CUPTI's records, then leave it
  give_way,       // wait for the GPU, then detach: the other tool must find none of our buffers
  flush,          // take CUPTI's records; kernels that have not ended have no times
};

// Why an event changes nothing.
enum class Ignored : uint8_t {
  no,                  // it does change something
  only_at_start,       // allocations of the time before would be missing
  armed_already,       // a second arm adds nothing
  not_armed,           // nothing was started, or it was stopped already
  tracing_already,     // the window is open
  no_window_open,      // there is none to close
  not_settling,        // no graph replay is being completed
  budget_not_used,     // a duty cycle decides when windows close
  still_draining,      // the next window must wait, or detaching would lose work
  nothing_to_drain,    // nothing is waited for
  complete_already,    // the work is complete; waiting for a safe point
  stays_attached,      // not about to detach
  not_attached,        // CUPTI holds nothing of ours
  cannot_fail,         // no action that starts here can fail
  process_is_exiting,  // CUPTI is about to end by itself
  is_final,            // stood down permanently
};

struct Transition {
  ControlState next = ControlState::disarmed;
  ControlAction action = ControlAction::none;
  Ignored ignored = Ignored::no;

  [[nodiscard]] constexpr bool taken() const { return ignored == Ignored::no; }
};

namespace state_table {

using S = ControlState;
using E = ControlEvent;
using A = ControlAction;
using I = Ignored;

// Sets of states, and of events.
inline constexpr uint32_t kAny = UINT32_MAX;
[[nodiscard]] constexpr uint32_t in(std::same_as<S> auto... states) {
  return ((1U << static_cast<unsigned>(states)) | ...);
}
[[nodiscard]] constexpr uint32_t on(std::same_as<E> auto... events) {
  return ((1U << static_cast<unsigned>(events)) | ...);
}

struct Rule {
  uint32_t states;
  uint32_t events;
  Transition transition;

  constexpr Rule(uint32_t of, uint32_t at, S next, A action)
      : states(of), events(at), transition{next, action, I::no} {}
  constexpr Rule(uint32_t of, uint32_t at, I why)
      : states(of), events(at), transition{{}, A::none, why} {}
};

// The first rule that names both the state and the event applies.
inline constexpr Rule kRules[] = {
    {in(S::stood_down), kAny, I::is_final},
    {in(S::disarmed, S::between_windows), on(E::rival_subscribes), S::stood_down, A::none},
    {kAny, on(E::rival_subscribes), S::stood_down, A::give_way},
    {in(S::tracing, S::window_draining, S::window_leaving, S::exiting), on(E::cupti_fails),
     I::cannot_fail},
    {kAny, on(E::cupti_fails), S::stood_down, A::detach},
    {in(S::exiting), kAny, I::process_is_exiting},
    {in(S::disarmed, S::between_windows), on(E::process_exits), I::not_attached},
    {kAny, on(E::process_exits), S::exiting, A::flush},

    {in(S::disarmed), on(E::watch_memory), S::watching_memory, A::attach},
    {kAny, on(E::watch_memory), I::only_at_start},
    {in(S::disarmed, S::watching_memory, S::draining, S::leaving), on(E::arm), S::tracing,
     A::start_tracing},
    {kAny, on(E::arm), I::armed_already},
    {in(S::disarmed, S::watching_memory, S::draining, S::leaving), on(E::disarm, E::window_opens),
     I::not_armed},
    {in(S::between_windows), on(E::disarm), S::disarmed, A::none},
    {in(S::window_leaving), on(E::disarm), S::leaving, A::drain},
    {kAny, on(E::disarm), S::draining, A::drain},

    {in(S::tracing), on(E::window_opens), I::tracing_already},
    {in(S::window_draining, S::window_leaving), on(E::window_opens), I::still_draining},
    {kAny, on(E::window_opens), S::tracing, A::start_tracing},
    {in(S::tracing), on(E::window_closes), S::paused, A::switch_off},
    {in(S::tracing), on(E::window_closes_graphs), S::settling, A::close_window},
    {in(S::settling), on(E::graphs_settled), S::paused, A::switch_off},
    {kAny, on(E::graphs_settled), I::not_settling},
    {in(S::tracing), on(E::budget_spent), S::window_draining, A::drain},
    {in(S::settling, S::paused), on(E::budget_spent), I::budget_not_used},
    {kAny, on(E::window_closes, E::window_closes_graphs, E::budget_spent), I::no_window_open},

    {in(S::window_draining), on(E::work_complete), S::window_leaving, A::none},
    {in(S::draining), on(E::work_complete), S::leaving, A::none},
    {in(S::window_leaving, S::leaving), on(E::work_complete), I::complete_already},
    {kAny, on(E::work_complete), I::nothing_to_drain},
    {in(S::window_leaving), on(E::safe_point), S::between_windows, A::detach},
    {in(S::leaving), on(E::safe_point), S::disarmed, A::detach},
    {in(S::window_draining, S::draining), on(E::safe_point), I::still_draining},
    {in(S::disarmed, S::between_windows), on(E::safe_point), I::not_attached},
    {kAny, on(E::safe_point), I::stays_attached},
};

struct Table {
  Transition cells[kControlStates][kControlEvents] = {};
  bool complete = true;  // a rule for each event in each state
};

consteval Table build() {
  Table table;
  for (size_t state = 0; state < kControlStates; ++state) {
    for (size_t event = 0; event < kControlEvents; ++event) {
      const auto holds = [&](const Rule& rule) {
        return (rule.states >> state & rule.events >> event & 1U) != 0;
      };
      const Rule* rule = std::find_if(std::begin(kRules), std::end(kRules), holds);
      if (rule == std::end(kRules)) {
        table.complete = false;
        continue;
      }
      Transition& cell = table.cells[state][event];
      cell = rule->transition;
      if (!cell.taken()) cell.next = static_cast<ControlState>(state);
    }
  }
  return table;
}

inline constexpr Table kTable = build();
static_assert(kTable.complete, "a rule for each event in each state");

}  // namespace state_table

[[nodiscard]] constexpr const Transition& transition(ControlState state, ControlEvent event) {
  return state_table::kTable.cells[static_cast<size_t>(state)][static_cast<size_t>(event)];
}

[[nodiscard]] constexpr bool is_among(uint32_t states, ControlState state) {
  return (states >> static_cast<unsigned>(state) & 1U) != 0;
}

// The state as the log and the command `status` show it.
[[nodiscard]] constexpr wire::TracingState state_in_log(ControlState state) {
  using S = ControlState;
  if (state == S::tracing) return wire::TracingState::tracing;
  if (state == S::stood_down) return wire::TracingState::stood_down;
  const uint32_t detached = state_table::in(S::disarmed, S::between_windows, S::exiting);
  return is_among(detached, state) ? wire::TracingState::detached : wire::TracingState::paused;
}

[[nodiscard]] constexpr bool is_armed(ControlState state) {
  using S = ControlState;
  return is_among(state_table::in(S::tracing, S::settling, S::paused, S::window_draining,
                                  S::window_leaving, S::between_windows),
                  state);
}

// CUPTI is attached, and its records are handed over.
[[nodiscard]] constexpr bool is_recording(ControlState state) {
  const wire::TracingState in_log = state_in_log(state);
  return in_log == wire::TracingState::tracing || in_log == wire::TracingState::paused;
}

[[nodiscard]] constexpr bool is_draining(ControlState state) {
  return state == ControlState::draining || state == ControlState::window_draining;
}

[[nodiscard]] constexpr bool is_leaving(ControlState state) {
  return state == ControlState::leaving || state == ControlState::window_leaving;
}

}  // namespace llmprof::collector
