#include "collector/cuda/control/state_table.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <vector>

namespace llmprof::collector {
namespace {

using S = ControlState;
using E = ControlEvent;
using A = ControlAction;
using I = Ignored;
using L = wire::TracingState;

std::vector<S> all_states() {
  std::vector<S> states;
  for (size_t i = 0; i < kControlStates; ++i) states.push_back(static_cast<S>(i));
  return states;
}

std::vector<E> all_events() {
  std::vector<E> events;
  for (size_t i = 0; i < kControlEvents; ++i) events.push_back(static_cast<E>(i));
  return events;
}

struct Expected {
  Expected(S in, S next, A action) : state(in), transition{next, action, I::no} {}
  Expected(S in, I why) : state(in), transition{in, A::none, why} {}
  S state;
  Transition transition;
};

// One event in every state.
void expect_in_each_state(E event, std::initializer_list<Expected> expected) {
  std::set<S> seen;
  for (const Expected& one : expected) {
    const Transition& found = transition(one.state, event);
    const auto where = testing::Message() << "event " << static_cast<int>(event) << " in state "
                                          << static_cast<int>(one.state);
    EXPECT_EQ(found.next, one.transition.next) << where;
    EXPECT_EQ(found.action, one.transition.action) << where;
    EXPECT_EQ(found.ignored, one.transition.ignored) << where;
    EXPECT_TRUE(seen.insert(one.state).second) << where;
  }
  EXPECT_EQ(seen.size(), kControlStates);
}

TEST(StateTable, ArmingStartsTracingUnlessArmed) {
  expect_in_each_state(E::arm, {
                                   {S::disarmed, S::tracing, A::start_tracing},
                                   {S::watching_memory, S::tracing, A::start_tracing},
                                   {S::tracing, I::armed_already},
                                   {S::settling, I::armed_already},
                                   {S::paused, I::armed_already},
                                   {S::window_draining, I::armed_already},
                                   {S::window_leaving, I::armed_already},
                                   {S::between_windows, I::armed_already},
                                   {S::draining, S::tracing, A::start_tracing},
                                   {S::leaving, S::tracing, A::start_tracing},
                                   {S::exiting, I::process_is_exiting},
                                   {S::stood_down, I::is_final},
                               });
}

TEST(StateTable, MemoryIsWatchedFromTheStartOnly) {
  for (const S state : all_states()) {
    const Transition& found = transition(state, E::watch_memory);
    if (state == S::disarmed) {
      EXPECT_EQ(found.next, S::watching_memory);
      EXPECT_EQ(found.action, A::attach);
    } else if (state == S::exiting) {
      EXPECT_EQ(found.ignored, I::process_is_exiting);
    } else {
      EXPECT_EQ(found.ignored, state == S::stood_down ? I::is_final : I::only_at_start);
    }
  }
}

TEST(StateTable, DisarmingDrainsWhatIsAttached) {
  expect_in_each_state(E::disarm, {
                                      {S::disarmed, I::not_armed},
                                      {S::watching_memory, I::not_armed},
                                      {S::tracing, S::draining, A::drain},
                                      {S::settling, S::draining, A::drain},
                                      {S::paused, S::draining, A::drain},
                                      {S::window_draining, S::draining, A::drain},
                                      {S::window_leaving, S::leaving, A::drain},
                                      {S::between_windows, S::disarmed, A::none},
                                      {S::draining, I::not_armed},
                                      {S::leaving, I::not_armed},
                                      {S::exiting, I::process_is_exiting},
                                      {S::stood_down, I::is_final},
                                  });
}

TEST(StateTable, AWindowOpensOnlyBetweenWindows) {
  expect_in_each_state(E::window_opens, {
                                            {S::disarmed, I::not_armed},
                                            {S::watching_memory, I::not_armed},
                                            {S::tracing, I::tracing_already},
                                            {S::settling, S::tracing, A::start_tracing},
                                            {S::paused, S::tracing, A::start_tracing},
                                            {S::window_draining, I::still_draining},
                                            {S::window_leaving, I::still_draining},
                                            {S::between_windows, S::tracing, A::start_tracing},
                                            {S::draining, I::not_armed},
                                            {S::leaving, I::not_armed},
                                            {S::exiting, I::process_is_exiting},
                                            {S::stood_down, I::is_final},
                                        });
}

TEST(StateTable, ADutyWindowWithoutGraphsIsSwitchedOffAtOnce) {
  expect_in_each_state(E::window_closes, {
                                             {S::disarmed, I::no_window_open},
                                             {S::watching_memory, I::no_window_open},
                                             {S::tracing, S::paused, A::switch_off},
                                             {S::settling, I::no_window_open},
                                             {S::paused, I::no_window_open},
                                             {S::window_draining, I::no_window_open},
                                             {S::window_leaving, I::no_window_open},
                                             {S::between_windows, I::no_window_open},
                                             {S::draining, I::no_window_open},
                                             {S::leaving, I::no_window_open},
                                             {S::exiting, I::process_is_exiting},
                                             {S::stood_down, I::is_final},
                                         });
}

TEST(StateTable, ADutyWindowWithGraphsSettles) {
  expect_in_each_state(E::window_closes_graphs, {
                                                    {S::disarmed, I::no_window_open},
                                                    {S::watching_memory, I::no_window_open},
                                                    {S::tracing, S::settling, A::close_window},
                                                    {S::settling, I::no_window_open},
                                                    {S::paused, I::no_window_open},
                                                    {S::window_draining, I::no_window_open},
                                                    {S::window_leaving, I::no_window_open},
                                                    {S::between_windows, I::no_window_open},
                                                    {S::draining, I::no_window_open},
                                                    {S::leaving, I::no_window_open},
                                                    {S::exiting, I::process_is_exiting},
                                                    {S::stood_down, I::is_final},
                                                });
}

TEST(StateTable, SettledGraphsLetRecordsBeSwitchedOff) {
  expect_in_each_state(E::graphs_settled, {
                                              {S::disarmed, I::not_settling},
                                              {S::watching_memory, I::not_settling},
                                              {S::tracing, I::not_settling},
                                              {S::settling, S::paused, A::switch_off},
                                              {S::paused, I::not_settling},
                                              {S::window_draining, I::not_settling},
                                              {S::window_leaving, I::not_settling},
                                              {S::between_windows, I::not_settling},
                                              {S::draining, I::not_settling},
                                              {S::leaving, I::not_settling},
                                              {S::exiting, I::process_is_exiting},
                                              {S::stood_down, I::is_final},
                                          });
}

TEST(StateTable, ASpentBudgetDrainsItsWindow) {
  expect_in_each_state(E::budget_spent, {
                                            {S::disarmed, I::no_window_open},
                                            {S::watching_memory, I::no_window_open},
                                            {S::tracing, S::window_draining, A::drain},
                                            {S::settling, I::budget_not_used},
                                            {S::paused, I::budget_not_used},
                                            {S::window_draining, I::no_window_open},
                                            {S::window_leaving, I::no_window_open},
                                            {S::between_windows, I::no_window_open},
                                            {S::draining, I::no_window_open},
                                            {S::leaving, I::no_window_open},
                                            {S::exiting, I::process_is_exiting},
                                            {S::stood_down, I::is_final},
                                        });
}

TEST(StateTable, CompleteWorkWaitsForASafePoint) {
  expect_in_each_state(E::work_complete, {
                                             {S::disarmed, I::nothing_to_drain},
                                             {S::watching_memory, I::nothing_to_drain},
                                             {S::tracing, I::nothing_to_drain},
                                             {S::settling, I::nothing_to_drain},
                                             {S::paused, I::nothing_to_drain},
                                             {S::window_draining, S::window_leaving, A::none},
                                             {S::window_leaving, I::complete_already},
                                             {S::between_windows, I::nothing_to_drain},
                                             {S::draining, S::leaving, A::none},
                                             {S::leaving, I::complete_already},
                                             {S::exiting, I::process_is_exiting},
                                             {S::stood_down, I::is_final},
                                         });
}

TEST(StateTable, ASafePointDetachesIfWorkIsComplete) {
  expect_in_each_state(E::safe_point, {
                                          {S::disarmed, I::not_attached},
                                          {S::watching_memory, I::stays_attached},
                                          {S::tracing, I::stays_attached},
                                          {S::settling, I::stays_attached},
                                          {S::paused, I::stays_attached},
                                          {S::window_draining, I::still_draining},
                                          {S::window_leaving, S::between_windows, A::detach},
                                          {S::between_windows, I::not_attached},
                                          {S::draining, I::still_draining},
                                          {S::leaving, S::disarmed, A::detach},
                                          {S::exiting, I::process_is_exiting},
                                          {S::stood_down, I::is_final},
                                      });
}

TEST(StateTable, AnotherToolGetsCuptiInEveryState) {
  expect_in_each_state(E::rival_subscribes, {
                                                {S::disarmed, S::stood_down, A::none},
                                                {S::watching_memory, S::stood_down, A::give_way},
                                                {S::tracing, S::stood_down, A::give_way},
                                                {S::settling, S::stood_down, A::give_way},
                                                {S::paused, S::stood_down, A::give_way},
                                                {S::window_draining, S::stood_down, A::give_way},
                                                {S::window_leaving, S::stood_down, A::give_way},
                                                {S::between_windows, S::stood_down, A::none},
                                                {S::draining, S::stood_down, A::give_way},
                                                {S::leaving, S::stood_down, A::give_way},
                                                {S::exiting, S::stood_down, A::give_way},
                                                {S::stood_down, I::is_final},
                                            });
}

TEST(StateTable, AFailureOfCuptiStandsDown) {
  expect_in_each_state(E::cupti_fails, {
                                           {S::disarmed, S::stood_down, A::detach},
                                           {S::watching_memory, S::stood_down, A::detach},
                                           {S::tracing, I::cannot_fail},
                                           {S::settling, S::stood_down, A::detach},
                                           {S::paused, S::stood_down, A::detach},
                                           {S::window_draining, I::cannot_fail},
                                           {S::window_leaving, I::cannot_fail},
                                           {S::between_windows, S::stood_down, A::detach},
                                           {S::draining, S::stood_down, A::detach},
                                           {S::leaving, S::stood_down, A::detach},
                                           {S::exiting, I::cannot_fail},
                                           {S::stood_down, I::is_final},
                                       });
}

TEST(StateTable, AnExitFlushesWhatIsAttached) {
  expect_in_each_state(E::process_exits, {
                                             {S::disarmed, I::not_attached},
                                             {S::watching_memory, S::exiting, A::flush},
                                             {S::tracing, S::exiting, A::flush},
                                             {S::settling, S::exiting, A::flush},
                                             {S::paused, S::exiting, A::flush},
                                             {S::window_draining, S::exiting, A::flush},
                                             {S::window_leaving, S::exiting, A::flush},
                                             {S::between_windows, I::not_attached},
                                             {S::draining, S::exiting, A::flush},
                                             {S::leaving, S::exiting, A::flush},
                                             {S::exiting, I::process_is_exiting},
                                             {S::stood_down, I::is_final},
                                         });
}

bool is_attached(S state) { return is_recording(state) || state == S::exiting; }

TEST(StateTable, OnlyTheirActionsAttachAndDetach) {
  for (const S state : all_states()) {
    for (const E event : all_events()) {
      const Transition& change = transition(state, event);
      if (!change.taken()) {
        EXPECT_EQ(change.next, state);
        EXPECT_EQ(change.action, A::none);
        continue;
      }
      const bool leaves = change.action == A::detach || change.action == A::give_way;
      EXPECT_EQ(is_attached(state) && !is_attached(change.next), is_attached(state) && leaves);
      if (!is_attached(state) && is_attached(change.next)) {
        EXPECT_EQ(change.action, change.next == S::watching_memory ? A::attach : A::start_tracing);
      }
      EXPECT_EQ(change.next == S::tracing, change.action == A::start_tracing);
    }
  }
}

TEST(StateTable, AFailedStartStandsDown) {
  for (const S state : all_states()) {
    for (const E event : all_events()) {
      const A action = transition(state, event).action;
      if (action != A::start_tracing && action != A::attach) continue;
      EXPECT_EQ(transition(state, E::cupti_fails).next, S::stood_down);
    }
  }
}

TEST(StateTable, EveryStateIsReached) {
  std::set<S> reached = {S::disarmed};
  std::vector<S> open = {S::disarmed};
  while (!open.empty()) {
    const S state = open.back();
    open.pop_back();
    for (const E event : all_events()) {
      const S next = transition(state, event).next;
      if (reached.insert(next).second) open.push_back(next);
    }
  }
  EXPECT_EQ(reached.size(), kControlStates);
}

struct Step {
  E event;
  L in_log;
  bool armed;
};

void expect_walk(std::initializer_list<Step> steps) {
  S state = S::disarmed;
  for (const Step& step : steps) {
    const Transition& change = transition(state, step.event);
    ASSERT_TRUE(change.taken()) << static_cast<int>(step.event);
    state = change.next;
    EXPECT_EQ(state_in_log(state), step.in_log) << static_cast<int>(step.event);
    EXPECT_EQ(is_armed(state), step.armed) << static_cast<int>(step.event);
  }
}

TEST(StateTable, ArmedByCommandAndDisarmed) {
  expect_walk({{E::arm, L::tracing, true},
               {E::disarm, L::paused, false},
               {E::work_complete, L::paused, false},
               {E::safe_point, L::detached, false},
               {E::arm, L::tracing, true},
               {E::process_exits, L::detached, false}});
}

TEST(StateTable, ArmedAgainWhileItDetaches) {
  expect_walk({{E::arm, L::tracing, true},
               {E::disarm, L::paused, false},
               {E::arm, L::tracing, true},
               {E::disarm, L::paused, false},
               {E::work_complete, L::paused, false},
               {E::arm, L::tracing, true}});
}

TEST(StateTable, ADutyCycleStaysAttached) {
  expect_walk({{E::arm, L::tracing, true},
               {E::window_closes_graphs, L::paused, true},
               {E::graphs_settled, L::paused, true},
               {E::window_opens, L::tracing, true},
               {E::window_closes, L::paused, true},
               {E::window_opens, L::tracing, true},
               {E::window_closes_graphs, L::paused, true},
               {E::window_opens, L::tracing, true},
               {E::disarm, L::paused, false}});
}

TEST(StateTable, ABudgetDetachesBetweenWindowsAndStaysArmed) {
  expect_walk({{E::arm, L::tracing, true},
               {E::budget_spent, L::paused, true},
               {E::work_complete, L::paused, true},
               {E::safe_point, L::detached, true},
               {E::window_opens, L::tracing, true},
               {E::budget_spent, L::paused, true},
               {E::disarm, L::paused, false},
               {E::work_complete, L::paused, false},
               {E::safe_point, L::detached, false}});
}

TEST(StateTable, TheCollectorsThreadsFollowTheState) {
  const std::set<S> draining = {S::draining, S::window_draining};
  const std::set<S> leaving = {S::leaving, S::window_leaving};
  const std::set<S> recording = {S::watching_memory, S::tracing,       S::settling,
                                 S::paused,          S::draining,      S::window_draining,
                                 S::leaving,         S::window_leaving};
  for (const S state : all_states()) {
    EXPECT_EQ(is_draining(state), draining.count(state) == 1);
    EXPECT_EQ(is_leaving(state), leaving.count(state) == 1);
    EXPECT_EQ(is_recording(state), recording.count(state) == 1);
  }
}

}  // namespace
}  // namespace llmprof::collector
