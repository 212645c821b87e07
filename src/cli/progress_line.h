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

// What is being done, at one moment.
struct ProgressState {
  enum class Unit : uint8_t { none, bytes, steps };
  std::string what;      // "reading trace.sqlite (nsys SQLite)"
  std::string step;      // the one under way, where it goes by steps
  size_t recording = 0;  // of a run, from 1; 0: none
  size_t recordings = 0;
  Unit unit = Unit::none;
  uint64_t done = 0;
  uint64_t total = 0;
  std::chrono::milliseconds elapsed{0};  // since this work began
};

// One line, at most `width` columns: "llmprof: reading trace.sqlite (nsys SQLite): 42 %, 1.2 of 2.9
// GB, 3 s". What is being done is shortened in the middle where there is no room for all.
std::string progress_text(const ProgressState& state, size_t width);

// How often progress is shown.
struct ProgressPace {
  std::chrono::milliseconds wait{std::chrono::seconds(1)};  // before work is shown on a terminal
  // Where stderr is a log: before the first line, and between lines.
  std::chrono::milliseconds quiet{std::chrono::seconds(10)};
  std::chrono::milliseconds between{std::chrono::seconds(30)};
};

// One line on stderr that says what is being done. A thread of its own draws it, ten times a second
// and not within the first second, so that work costs no more for being watched. It is erased when
// this object ends. Where stderr is no terminal that can redraw a line, a line is written now and
// then, so that long work is never silent.
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
  std::mutex lock_;  // of what follows, and of stderr
  std::condition_variable stopping_;
  bool stopped_ = false;
  bool drawn_ = false;
  ProgressState state_;
  Clock::time_point begun_;
  uint64_t bytes_before_ = 0;  // bytes_read() when the file was begun
  size_t steps_begun_ = 0;
  std::thread drawer_;
};

// Does work while a line says how far it is; the line is gone when this returns.
template <class Work>
auto watched(Work&& work) {
  ProgressLine progress;
  return std::forward<Work>(work)(progress);
}

}  // namespace llmprof::cli
