#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/cuda_records.h"

// The collector's control as one table: in which state it is, what happens, which state follows and
// what is done on the way there. Plain values without CUPTI; collection.cpp performs the actions.
// docs/collector.md draws it.
namespace llmprof::collector {

enum class ControlState : uint8_t {
  disarmed,  // waits to be armed; CUPTI is not attached
  tracing,   // armed: kernels, memory operations and calls are recorded
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
inline constexpr size_t kControlStates = 11;

enum class ControlEvent : uint8_t {
  arm,                   // program start, the arming range, the delay or `llmprof arm`
  disarm,                // the arming range closed, the step limit or `llmprof disarm`
  window_opens,          // of a duty cycle or a budget, or a stage begins between duty windows
  window_closes,         // of a duty cycle; no graph was replayed while tracing
  window_closes_graphs,  // of a duty cycle; graphs were replayed while tracing
  graphs_settled,        // a step after window_closes_graphs: each graph was replayed once more
  budget_spent,          // the window of an overhead budget is over
  work_complete,         // all that was launched while tracing has been recorded, or took too long
  safe_point,            // a CUDA call of the program returns, or it has made none for a while
  rival_subscribes,      // another tool in the process asks for CUPTI
  cupti_fails,           // libcupti is missing, taken by another tool, or a call of it failed
  process_exits,         // by exit()
};
inline constexpr size_t kControlEvents = 12;

enum class ControlAction : uint8_t {
  none,
  start_tracing,  // attach if CUPTI is not attached, switch its records on, open a window
  close_window,   // what is launched from now on is not kept
  switch_off,     // close the window and switch CUPTI's records off
  drain,          // close the window and note the last launch, whose kernel is waited for
  detach,         // flush what CUPTI holds, then leave it
  give_way,       // wait for the GPU, then detach: the other tool must find none of our buffers
  flush,          // take what CUPTI holds; kernels that have not ended have no times
};

// Why an event changes nothing.
enum class Ignored : uint8_t {
  no,                  // it does change something
  armed_already,       // a second arm adds nothing
  not_armed,           // nothing was started, or it was stopped already
  tracing_already,     // the window is open
  no_window_open,      // there is none to close
  not_settling,        // no graph replay is being completed
  budget_not_used,     // a duty cycle decides when windows close
  still_draining,      // the next window must wait, or detaching would lose work
  nothing_to_drain,    // nothing is waited for
  complete_already,    // the work is complete; a safe point is waited for
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

struct TableRow {
  ControlState state;
  ControlEvent event;
  Transition transition;

  constexpr TableRow(ControlState in, ControlEvent on, ControlState next, ControlAction action)
      : state(in), event(on), transition{next, action, Ignored::no} {}
  constexpr TableRow(ControlState in, ControlEvent on, Ignored why)
      : state(in), event(on), transition{in, ControlAction::none, why} {}
};

namespace state_table {

using S = ControlState;
using E = ControlEvent;
using A = ControlAction;
using I = Ignored;

// Each event in each state, once.
inline constexpr TableRow kRows[] = {
    {S::disarmed, E::arm, S::tracing, A::start_tracing},
    {S::disarmed, E::disarm, I::not_armed},
    {S::disarmed, E::window_opens, I::not_armed},
    {S::disarmed, E::window_closes, I::no_window_open},
    {S::disarmed, E::window_closes_graphs, I::no_window_open},
    {S::disarmed, E::graphs_settled, I::not_settling},
    {S::disarmed, E::budget_spent, I::no_window_open},
    {S::disarmed, E::work_complete, I::nothing_to_drain},
    {S::disarmed, E::safe_point, I::not_attached},
    {S::disarmed, E::rival_subscribes, S::stood_down, A::none},
    {S::disarmed, E::cupti_fails, S::stood_down, A::detach},
    {S::disarmed, E::process_exits, I::not_attached},

    {S::tracing, E::arm, I::armed_already},
    {S::tracing, E::disarm, S::draining, A::drain},
    {S::tracing, E::window_opens, I::tracing_already},
    {S::tracing, E::window_closes, S::paused, A::switch_off},
    {S::tracing, E::window_closes_graphs, S::settling, A::close_window},
    {S::tracing, E::graphs_settled, I::not_settling},
    {S::tracing, E::budget_spent, S::window_draining, A::drain},
    {S::tracing, E::work_complete, I::nothing_to_drain},
    {S::tracing, E::safe_point, I::stays_attached},
    {S::tracing, E::rival_subscribes, S::stood_down, A::give_way},
    {S::tracing, E::cupti_fails, I::cannot_fail},
    {S::tracing, E::process_exits, S::exiting, A::flush},

    {S::settling, E::arm, I::armed_already},
    {S::settling, E::disarm, S::draining, A::drain},
    {S::settling, E::window_opens, S::tracing, A::start_tracing},
    {S::settling, E::window_closes, I::no_window_open},
    {S::settling, E::window_closes_graphs, I::no_window_open},
    {S::settling, E::graphs_settled, S::paused, A::switch_off},
    {S::settling, E::budget_spent, I::budget_not_used},
    {S::settling, E::work_complete, I::nothing_to_drain},
    {S::settling, E::safe_point, I::stays_attached},
    {S::settling, E::rival_subscribes, S::stood_down, A::give_way},
    {S::settling, E::cupti_fails, S::stood_down, A::detach},
    {S::settling, E::process_exits, S::exiting, A::flush},

    {S::paused, E::arm, I::armed_already},
    {S::paused, E::disarm, S::draining, A::drain},
    {S::paused, E::window_opens, S::tracing, A::start_tracing},
    {S::paused, E::window_closes, I::no_window_open},
    {S::paused, E::window_closes_graphs, I::no_window_open},
    {S::paused, E::graphs_settled, I::not_settling},
    {S::paused, E::budget_spent, I::budget_not_used},
    {S::paused, E::work_complete, I::nothing_to_drain},
    {S::paused, E::safe_point, I::stays_attached},
    {S::paused, E::rival_subscribes, S::stood_down, A::give_way},
    {S::paused, E::cupti_fails, S::stood_down, A::detach},
    {S::paused, E::process_exits, S::exiting, A::flush},

    {S::window_draining, E::arm, I::armed_already},
    {S::window_draining, E::disarm, S::draining, A::drain},
    {S::window_draining, E::window_opens, I::still_draining},
    {S::window_draining, E::window_closes, I::no_window_open},
    {S::window_draining, E::window_closes_graphs, I::no_window_open},
    {S::window_draining, E::graphs_settled, I::not_settling},
    {S::window_draining, E::budget_spent, I::no_window_open},
    {S::window_draining, E::work_complete, S::window_leaving, A::none},
    {S::window_draining, E::safe_point, I::still_draining},
    {S::window_draining, E::rival_subscribes, S::stood_down, A::give_way},
    {S::window_draining, E::cupti_fails, I::cannot_fail},
    {S::window_draining, E::process_exits, S::exiting, A::flush},

    {S::window_leaving, E::arm, I::armed_already},
    {S::window_leaving, E::disarm, S::leaving, A::drain},
    {S::window_leaving, E::window_opens, I::still_draining},
    {S::window_leaving, E::window_closes, I::no_window_open},
    {S::window_leaving, E::window_closes_graphs, I::no_window_open},
    {S::window_leaving, E::graphs_settled, I::not_settling},
    {S::window_leaving, E::budget_spent, I::no_window_open},
    {S::window_leaving, E::work_complete, I::complete_already},
    {S::window_leaving, E::safe_point, S::between_windows, A::detach},
    {S::window_leaving, E::rival_subscribes, S::stood_down, A::give_way},
    {S::window_leaving, E::cupti_fails, I::cannot_fail},
    {S::window_leaving, E::process_exits, S::exiting, A::flush},

    {S::between_windows, E::arm, I::armed_already},
    {S::between_windows, E::disarm, S::disarmed, A::none},
    {S::between_windows, E::window_opens, S::tracing, A::start_tracing},
    {S::between_windows, E::window_closes, I::no_window_open},
    {S::between_windows, E::window_closes_graphs, I::no_window_open},
    {S::between_windows, E::graphs_settled, I::not_settling},
    {S::between_windows, E::budget_spent, I::no_window_open},
    {S::between_windows, E::work_complete, I::nothing_to_drain},
    {S::between_windows, E::safe_point, I::not_attached},
    {S::between_windows, E::rival_subscribes, S::stood_down, A::none},
    {S::between_windows, E::cupti_fails, S::stood_down, A::detach},
    {S::between_windows, E::process_exits, I::not_attached},

    {S::draining, E::arm, S::tracing, A::start_tracing},
    {S::draining, E::disarm, I::not_armed},
    {S::draining, E::window_opens, I::not_armed},
    {S::draining, E::window_closes, I::no_window_open},
    {S::draining, E::window_closes_graphs, I::no_window_open},
    {S::draining, E::graphs_settled, I::not_settling},
    {S::draining, E::budget_spent, I::no_window_open},
    {S::draining, E::work_complete, S::leaving, A::none},
    {S::draining, E::safe_point, I::still_draining},
    {S::draining, E::rival_subscribes, S::stood_down, A::give_way},
    {S::draining, E::cupti_fails, S::stood_down, A::detach},
    {S::draining, E::process_exits, S::exiting, A::flush},

    {S::leaving, E::arm, S::tracing, A::start_tracing},
    {S::leaving, E::disarm, I::not_armed},
    {S::leaving, E::window_opens, I::not_armed},
    {S::leaving, E::window_closes, I::no_window_open},
    {S::leaving, E::window_closes_graphs, I::no_window_open},
    {S::leaving, E::graphs_settled, I::not_settling},
    {S::leaving, E::budget_spent, I::no_window_open},
    {S::leaving, E::work_complete, I::complete_already},
    {S::leaving, E::safe_point, S::disarmed, A::detach},
    {S::leaving, E::rival_subscribes, S::stood_down, A::give_way},
    {S::leaving, E::cupti_fails, S::stood_down, A::detach},
    {S::leaving, E::process_exits, S::exiting, A::flush},

    {S::exiting, E::arm, I::process_is_exiting},
    {S::exiting, E::disarm, I::process_is_exiting},
    {S::exiting, E::window_opens, I::process_is_exiting},
    {S::exiting, E::window_closes, I::process_is_exiting},
    {S::exiting, E::window_closes_graphs, I::process_is_exiting},
    {S::exiting, E::graphs_settled, I::process_is_exiting},
    {S::exiting, E::budget_spent, I::process_is_exiting},
    {S::exiting, E::work_complete, I::process_is_exiting},
    {S::exiting, E::safe_point, I::process_is_exiting},
    {S::exiting, E::rival_subscribes, S::stood_down, A::give_way},
    {S::exiting, E::cupti_fails, I::cannot_fail},
    {S::exiting, E::process_exits, I::process_is_exiting},

    {S::stood_down, E::arm, I::is_final},
    {S::stood_down, E::disarm, I::is_final},
    {S::stood_down, E::window_opens, I::is_final},
    {S::stood_down, E::window_closes, I::is_final},
    {S::stood_down, E::window_closes_graphs, I::is_final},
    {S::stood_down, E::graphs_settled, I::is_final},
    {S::stood_down, E::budget_spent, I::is_final},
    {S::stood_down, E::work_complete, I::is_final},
    {S::stood_down, E::safe_point, I::is_final},
    {S::stood_down, E::rival_subscribes, I::is_final},
    {S::stood_down, E::cupti_fails, I::is_final},
    {S::stood_down, E::process_exits, I::is_final},
};

struct Table {
  Transition cells[kControlStates][kControlEvents] = {};
  bool complete = true;  // every cell was given, and once
};

consteval Table build() {
  Table table;
  bool given[kControlStates][kControlEvents] = {};
  size_t rows = 0;
  for (const TableRow& row : kRows) {
    const auto state = static_cast<size_t>(row.state);
    const auto event = static_cast<size_t>(row.event);
    if (given[state][event]) table.complete = false;
    given[state][event] = true;
    table.cells[state][event] = row.transition;
    ++rows;
  }
  if (rows != kControlStates * kControlEvents) table.complete = false;
  return table;
}

inline constexpr Table kTable = build();
static_assert(kTable.complete, "each event in each state, once");

}  // namespace state_table

[[nodiscard]] constexpr const Transition& transition(ControlState state, ControlEvent event) {
  return state_table::kTable.cells[static_cast<size_t>(state)][static_cast<size_t>(event)];
}

// The state as it is written to the log, and as the command `status` answers it.
[[nodiscard]] constexpr wire::CollectionState state_in_log(ControlState state) {
  switch (state) {
    case ControlState::tracing:
      return wire::CollectionState::tracing;
    case ControlState::settling:
    case ControlState::paused:
    case ControlState::window_draining:
    case ControlState::window_leaving:
    case ControlState::draining:
    case ControlState::leaving:
      return wire::CollectionState::paused;
    case ControlState::stood_down:
      return wire::CollectionState::stood_down;
    case ControlState::disarmed:
    case ControlState::between_windows:
    case ControlState::exiting:
      return wire::CollectionState::detached;
  }
  return wire::CollectionState::detached;
}

[[nodiscard]] constexpr bool is_armed(ControlState state) {
  return state == ControlState::tracing || state == ControlState::settling ||
         state == ControlState::paused || state == ControlState::window_draining ||
         state == ControlState::window_leaving || state == ControlState::between_windows;
}

// CUPTI is attached, and its records are handed over.
[[nodiscard]] constexpr bool is_recording(ControlState state) {
  const wire::CollectionState in_log = state_in_log(state);
  return in_log == wire::CollectionState::tracing || in_log == wire::CollectionState::paused;
}

[[nodiscard]] constexpr bool is_draining(ControlState state) {
  return state == ControlState::draining || state == ControlState::window_draining;
}

[[nodiscard]] constexpr bool is_leaving(ControlState state) {
  return state == ControlState::leaving || state == ControlState::window_leaving;
}

}  // namespace llmprof::collector
