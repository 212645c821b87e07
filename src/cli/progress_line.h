#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/progress.h"

namespace llmprof::cli {

// The work in progress at one moment.
struct ProgressState {
  enum class Unit : uint8_t { none, bytes, steps };
  std::string what;      // "reading trace.sqlite (nsys SQLite)"
  std::string step;      // the current one, if the work has steps
  size_t recording = 0;  // of a run, from 1; 0: none
  size_t recordings = 0;
  Unit unit = Unit::none;
  uint64_t done = 0;
  uint64_t total = 0;
  std::chrono::milliseconds elapsed{0};  // since this work started
};

// One line, at most `width` columns: "llmprof: reading trace.sqlite (nsys SQLite): 42 %, 1.2 of 2.9
// GB, 3 s". If it is too long, the description is shortened in the middle.
std::string progress_text(const ProgressState& state, size_t width);

// How often progress is shown.
struct ProgressPace {
  std::chrono::milliseconds wait{std::chrono::seconds(1)};  // before work is shown on a terminal
  // If stderr is a log: time before the first line, and between lines.
  std::chrono::milliseconds quiet{std::chrono::seconds(10)};
  std::chrono::milliseconds between{std::chrono::seconds(30)};
};

// One line on stderr that shows the current work. A separate thread draws it ten times per second,
// after the first second, so that showing progress does not slow the work down. The line is erased
// when this object ends. If stderr is not a terminal that can redraw a line, it prints a line from
// time to time, so that long work is never silent.
class ProgressLine final : public Progress {
 public:
  explicit ProgressLine(ProgressPace pace = {});
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() override;

  void set_pass(size_t number, size_t count) override;
  void begin(std::string_view what) override;
  void begin_reading(std::string_view what, uint64_t bytes) override;
  void begin_steps(std::string_view what, size_t count) override;
  void next_step(std::string_view what) override;
  void announce(std::string_view text) override;
  void note(std::string_view text) override;

 private:
  using Clock = std::chrono::steady_clock;

  void begin(std::string_view what, ProgressState::Unit unit, uint64_t total);
  void draw_until_stopped();
  void log_until_stopped();
  std::string text_now(size_t width);  // with the lock held
  void draw();                         // with the lock held
  void erase();                        // with the lock held

  const bool is_shown_;
  const ProgressPace pace_;
  const Clock::time_point show_from_;
  std::mutex lock_;  // guards the members below and stderr
  std::condition_variable stopping_;
  bool stopped_ = false;
  bool drawn_ = false;
  ProgressState state_;
  Clock::time_point begun_;
  uint64_t bytes_before_ = 0;  // bytes_read() when reading the file started
  size_t steps_begun_ = 0;
  std::thread drawer_;
};

// Does work while a line shows its progress; the line is erased when this returns.
template <class Work>
auto with_progress(Work&& work) {
  ProgressLine progress;
  return std::forward<Work>(work)(progress);
}

}  // namespace llmprof::cli
