#include "report/sections/token_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/sections/stage_words.h"

namespace llmprof::report {
namespace {

// "; 1.642 ms in another window", "; 1.642 to 3.120 ms in 2 other windows".
std::string other_windows(const profile::TokenTimes& times, const profile::ServedWindow& shown) {
  Times others;
  for (const profile::ServedWindow& window : times.served) {
    if (&window == &shown || !window.token) continue;
    ++others.count;
    others.min = others.min ? std::min(*others.min, *window.token) : *window.token;
    others.max = others.max ? std::max(*others.max, *window.token) : *window.token;
  }
  if (others.count == 0) return {};
  if (others.count == 1) return fmt::format("; {} ms in another window", ms(others.min));
  return fmt::format("; {} ms in {} other windows", range_ms(others), others.count);
}

void add_served_figures(const profile::Profile& profile, const profile::ServedWindow& window,
                        std::vector<TokenFigure>& figures) {
  if (window.prompt) {
    figures.push_back(
        {"time to first token",
         "prefill",
         {text_of(ms(window.prompt)), window.prompt,
          fmt::format("mean of {}, queueing excluded", counted(window.prompts, "prompt"))},
         true});
  }
  if (window.token) {
    figures.push_back({"time per output token",
                       "decode",
                       {text_of(ms(window.token)), window.token,
                        fmt::format("mean of {}, up to {}{}", counted(window.tokens, "token"),
                                    counted(window.sequences_max, "sequence"),
                                    other_windows(profile.token_times, window))},
                       true});
  }
}

}  // namespace

const profile::ServedWindow* largest_served(const profile::Profile& profile) {
  const auto& windows = profile.token_times.served;
  const auto largest =
      std::max_element(windows.begin(), windows.end(),
                       [](const profile::ServedWindow& a, const profile::ServedWindow& b) {
                         return a.tokens < b.tokens;
                       });
  return largest == windows.end() || !largest->token ? nullptr : &*largest;
}

std::vector<TokenFigure> token_figures(const profile::Profile& profile) {
  const profile::TokenTimes& times = profile.token_times;
  std::vector<TokenFigure> figures;
  if (const profile::ServedWindow* window = largest_served(profile)) {
    add_served_figures(profile, *window, figures);
    return figures;
  }
  if (times.time_to_first_token) {
    figures.push_back(
        {"time to first token", "prefill", typical(*times.time_to_first_token, "prefill")});
  }
  if (!times.time_per_output_token) return figures;
  if (is_serving(profile)) {
    figures.push_back(
        {"engine step of decode", "decode", typical(*times.time_per_output_token, "engine step")});
  } else {
    figures.push_back(
        {"time per output token", "decode", typical(*times.time_per_output_token, "decode")});
  }
  return figures;
}

}  // namespace llmprof::report
