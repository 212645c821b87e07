#pragma once

#include <string>

#include "profile/profile.h"

namespace llmprof::report {

// What a user of the model waits for (token_times.shown.figures), in words.
struct TokenFigureWords {
  std::string name;  // "time to first token", "time per output token"
  std::string text;  // in ms: "6.000", "8.615 to 52.928"
  std::string of;    // "mean of 3 prefills"
};
TokenFigureWords token_figure_words(const profile::Profile& profile,
                                    const profile::TokenFigure& figure);

// The window of recording in which an engine's requests got the most tokens; null where what they
// saw is not known.
const profile::ServedWindow* shown_window(const profile::Profile& profile);

}  // namespace llmprof::report
