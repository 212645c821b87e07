#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace llmprof::http {

// CLOCK_MONOTONIC: the clock of every time of this module.
int64_t monotonic_ns();

// Sockets and timers of one thread. Clients, servers and timers are used on the thread that runs
// the loop (or before it runs), and end before the loop does.
class EventLoop {
 public:
  EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop();

  // Runs what happens, until stop(), which may come first. A stopped loop can run again.
  void run();
  // run() returns after the task that runs now. From any thread.
  void stop();
  // Runs the task on the loop's thread. From any thread.
  void post(std::function<void()> task);

  struct State;
  [[nodiscard]] State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// Runs one task at a time, once, at a time of monotonic_ns(). Late by some ten microseconds where
// the loop has nothing else to do.
class Timer {
 public:
  explicit Timer(EventLoop& loop);
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer();  // without its task

  // Replaces the task that is set.
  void start_at(int64_t when_ns, std::function<void()> task);
  void cancel();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace llmprof::http
