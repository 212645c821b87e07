#include "cli/progress_line.h"

#include <unistd.h>

#include <algorithm>

#include "base/bytes_read.h"
#include "cli/messages.h"
#include "cli/terminal_here.h"

namespace llmprof::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenDrawings{100};
constexpr std::string_view kEraseLine = "\r\x1B[K";

// Past stdio, whose lock a message may hold. A terminal that takes nothing more is no reason to
// stop.
void write_to_terminal(std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

ProgressLine::ProgressLine(ProgressPace pace)
    : is_shown_(can_redraw(terminal_of(STDERR_FILENO), terminal_variables_here())),
      pace_(pace),
      show_from_(Clock::now() + pace.wait) {
  drawer_ = std::thread([this] { is_shown_ ? draw_until_stopped() : log_until_stopped(); });
}

ProgressLine::~ProgressLine() {
  if (!drawer_.joinable()) return;
  {
    const std::lock_guard guard(lock_);
    stopped_ = true;
    erase();
  }
  stopping_.notify_all();
  drawer_.join();
}

void ProgressLine::set_pass(size_t number, size_t count) {
  const std::lock_guard guard(lock_);
  state_.pass = number;
  state_.passes = count;
}

void ProgressLine::begin(std::string_view what) { begin(what, ProgressState::Unit::none, 0); }

void ProgressLine::begin_reading(std::string_view what, uint64_t bytes) {
  begin(what, ProgressState::Unit::bytes, bytes);
}

void ProgressLine::begin_steps(std::string_view what, size_t count) {
  begin(what, ProgressState::Unit::steps, count);
}

void ProgressLine::begin(std::string_view what, ProgressState::Unit unit, uint64_t total) {
  const std::lock_guard guard(lock_);
  state_.what = what;
  state_.step.clear();
  state_.unit = unit;
  state_.total = total;
  begun_ = Clock::now();
  bytes_before_ = bytes_read();
  steps_begun_ = 0;
}

void ProgressLine::next_step(std::string_view what) {
  const std::lock_guard guard(lock_);
  state_.step = what;
  ++steps_begun_;
}

void ProgressLine::announce(std::string_view text) {
  const std::lock_guard guard(lock_);
  erase();
  tell(text);
}

void ProgressLine::note(std::string_view text) {
  if (!is_shown_) return;
  const std::lock_guard guard(lock_);
  erase();
  tell(text);
}

void ProgressLine::draw_until_stopped() {
  std::unique_lock guard(lock_);
  while (!stopped_) {
    if (!state_.what.empty() && Clock::now() >= show_from_) draw();
    stopping_.wait_for(guard, kBetweenDrawings, [this] { return stopped_; });
  }
}

void ProgressLine::log_until_stopped() {
  std::unique_lock guard(lock_);
  auto pause = pace_.quiet;
  while (!stopping_.wait_for(guard, pause, [this] { return stopped_; })) {
    constexpr size_t kAll = 1 << 20;
    if (!state_.what.empty()) write_to_terminal(text_now(kAll) + '\n');
    pause = pace_.between;
  }
}

std::string ProgressLine::text_now(size_t width) {
  state_.elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun_);
  state_.done = state_.unit == ProgressState::Unit::bytes
                    ? bytes_read() - bytes_before_
                    : steps_begun_ - std::min<size_t>(steps_begun_, 1);
  return progress_text(state_, width);
}

void ProgressLine::draw() {
  // Asked every time: a window may change its size. The last column stays free, since a line that
  // fills it may wrap.
  const size_t columns = terminal_of(STDERR_FILENO).columns;
  const size_t room = (columns == 0 ? kUsualColumns : columns) - 1;
  write_to_terminal(std::string(kEraseLine) + text_now(room));
  drawn_ = true;
}

void ProgressLine::erase() {
  if (drawn_) write_to_terminal(kEraseLine);
  drawn_ = false;
}

}  // namespace llmprof::cli
