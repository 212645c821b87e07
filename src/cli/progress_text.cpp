#include "cli/progress_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/terminal/display_width.h"

namespace llmprof::cli {
namespace {

// Never 100: what is done is no longer shown.
uint64_t percent_of(const ProgressState& state) {
  const double share = static_cast<double>(state.done) / static_cast<double>(state.total);
  return static_cast<uint64_t>(std::clamp(100.0 * share, 0.0, 99.0));
}

std::string bytes_text(uint64_t done, uint64_t total) {
  constexpr double kMegabyte = 1e6;
  constexpr double kGigabyte = 1e9;
  const bool large = static_cast<double>(total) >= kGigabyte;
  const double unit = large ? kGigabyte : kMegabyte;
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

std::string progress_text(const ProgressState& state, size_t width) {
  std::string first = "llmprof: ";
  if (state.passes > 0) first += fmt::format("pass {} of {}, ", state.pass, state.passes);
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
