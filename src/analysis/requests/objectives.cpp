#include "analysis/requests/objectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "profile/vocabulary.h"

namespace llmprof::analysis {
namespace {

constexpr std::string_view kExample = "for example ttft=500ms,itl=50ms";

std::optional<profile::Milliseconds> time_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 3> kUnits = {
      {{"us", 1e-3}, {"ms", 1}, {"s", kMillisecondsPerSecond}}};
  const auto* unit =
      std::ranges::find_if(kUnits, [&](const auto& known) { return text.ends_with(known.first); });
  if (unit == kUnits.end()) return std::nullopt;
  const auto number = parse_decimal(text.substr(0, text.size() - unit->first.size()));
  if (!number || !(*number > 0)) return std::nullopt;
  return profile::Milliseconds{*number * unit->second};
}

}  // namespace

Result<std::vector<profile::Objective>> parse_objectives(std::string_view text) {
  std::vector<profile::Objective> objectives;
  for (const std::string_view item : split(text, ',')) {
    const size_t sign = item.find('=');
    const auto figure = profile::find_word<profile::RequestFigure>(trim(item.substr(0, sign)));
    if (sign == std::string_view::npos || !figure) {
      return fail(
          ErrorKind::usage,
          fmt::format("--slo {}: unknown figure in \"{}\"; available: ttft, itl, tpot, e2e; "
                      "{}",
                      text, item, kExample));
    }
    const auto limit = time_of(trim(item.substr(sign + 1)));
    if (!limit) {
      return fail(ErrorKind::usage,
                  fmt::format("--slo {}: \"{}\" needs a positive time in us, ms or s; {}", text,
                              item, kExample));
    }
    const bool again =
        std::ranges::find(objectives, *figure, &profile::Objective::figure) != objectives.end();
    if (again) {
      return fail(ErrorKind::usage, fmt::format("--slo {}: \"{}\" is a second limit for the same "
                                                "figure",
                                                text, item));
    }
    objectives.push_back({*figure, *limit, {}});
  }
  return objectives;
}

}  // namespace llmprof::analysis
