#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/output.h"
#include "report/terminal/text_layout.h"

namespace llmprof::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenDrawings{100};
constexpr std::string_view kEraseLine = "\r\x1B[K";

// Bypasses stdio, whose lock a message may hold. A failing terminal does not stop the work.
void write_to_terminal(std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

// Never 100, since finished work is not shown.
uint64_t percent_of(const ProgressState& state) {
  const double share = static_cast<double>(state.done) / static_cast<double>(state.total);
  return static_cast<uint64_t>(std::clamp(100.0 * share, 0.0, 99.0));
}

std::string bytes_text(uint64_t done, uint64_t total) {
  const bool large = static_cast<double>(total) >= kGiga;
  const double unit = large ? kGiga : kMega;
  return fmt::format("{:.{}f} of {:.{}f} {}", static_cast<double>(std::min(done, total)) / unit,
                     large ? 1 : 0, static_cast<double>(total) / unit, large ? 1 : 0,
                     large ? "GB" : "MB");
}

std::string elapsed_text(std::chrono::milliseconds elapsed) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(elapsed).count();
  constexpr int64_t kMinute = 60;
  if (seconds < 2 * kMinute) return fmt::format("{} s", seconds);
  return fmt::format("{} min {} s", seconds / kMinute, seconds % kMinute);
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
  state_.recording = number;
  state_.recordings = count;
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
  print_message(text);
}

void ProgressLine::note(std::string_view text) {
  if (!is_shown_) return;
  const std::lock_guard guard(lock_);
  erase();
  print_message(text);
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
  // Queried every time, because a window may be resized. The last column stays empty, since a line
  // that fills it may wrap.
  const size_t columns = terminal_of(STDERR_FILENO).columns;
  const size_t room = (columns == 0 ? kUsualColumns : columns) - 1;
  write_to_terminal(std::string(kEraseLine) + text_now(room));
  drawn_ = true;
}

void ProgressLine::erase() {
  if (drawn_) write_to_terminal(kEraseLine);
  drawn_ = false;
}

std::string progress_text(const ProgressState& state, size_t width) {
  std::string first = "llmprof: ";
  if (state.recordings > 0)
    first += fmt::format("recording {} of {}, ", state.recording, state.recordings);
  std::string last;
  if (state.unit != ProgressState::Unit::none && state.total > 0) {
    last += fmt::format(": {} %, ", percent_of(state));
    last += state.unit == ProgressState::Unit::bytes
                ? bytes_text(state.done, state.total)
                : fmt::format("{} ({} of {})", to_printable(state.step),
                              std::min(state.done + 1, state.total), state.total);
  }
  last += ", " + elapsed_text(state.elapsed);
  const size_t taken = report::display_width(first) + report::display_width(last);
  const size_t room = width - std::min(width, taken);
  const std::string text =
      first + report::shortened_in_the_middle(to_printable(state.what), room) + last;
  return std::string(report::front_of(text, width));
}

}  // namespace llmprof::cli
