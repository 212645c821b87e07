#include "report/sections/section_words.h"

#include <fmt/format.h>

#include "report/format/figures.h"

namespace llmprof::report {
namespace {

// "; 1.642 ms in another window", "; 1.642 to 3.120 ms in 2 other windows".
std::string other_windows(const profile::TokenFigure& figure) {
  if (!figure.other_windows) return {};
  const auto& others = *figure.other_windows;
  if (others.count == 1) return fmt::format("; {} ms in another window", ms(others.min));
  return fmt::format("; {} ms in {} other windows", range_ms(others), others.count);
}

std::string of_words(const profile::Profile& profile, const profile::TokenFigure& figure) {
  const bool first = figure.figure == profile::TokenTime::to_first_token;
  if (!figure.of_requests) {
    const bool step = figure.figure == profile::TokenTime::of_engine_step;
    return typical_of(figure.time, step ? "engine step" : figure.stage);
  }
  if (first) return typical_of(figure.time, "prompt") + ", queueing excluded";
  return fmt::format("{}, up to {}{}", typical_of(figure.time, "token"),
                     counted(shown_window(profile)->sequences_max, "sequence"),
                     other_windows(figure));
}

}  // namespace

const profile::ServedWindow* shown_window(const profile::Profile& profile) {
  const auto& row = shown_tokens(profile).served_window;
  const auto& windows = profile.token_times.served;
  return row && *row < windows.size() ? &windows[*row] : nullptr;
}

TokenFigureWords token_figure_words(const profile::Profile& profile,
                                    const profile::TokenFigure& figure) {
  static constexpr auto kNames = profile::texts<profile::TokenTime>(
      {{profile::TokenTime::to_first_token, "time to first token"},
       {profile::TokenTime::per_output_token, "time per output token"},
       {profile::TokenTime::of_engine_step, "engine step of decode"}});
  return {std::string(kNames[figure.figure]), typical_text(figure.time), of_words(profile, figure)};
}

}  // namespace llmprof::report
