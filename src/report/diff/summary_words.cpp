#include "report/diff/diff_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/format/figures.h"
#include "report/format/sentences.h"

namespace llmprof::report {
namespace {

using compare::Comparison;
using compare::Diff;

// A ratio this close to 2 is called "twice".
constexpr double kAboutTwice = 0.1;

std::string damage_words(const Diff& diff) {
  const compare::Damage& first = diff.damage.front();
  const bool one = std::ranges::all_of(
      diff.damage, [&](const compare::Damage& each) { return each.side == first.side; });
  const std::string sides =
      one ? fmt::format("The {} side is damaged", to_string(first.side)) : "Both sides are damaged";
  return fmt::format("{}, so no change can be determined: {}{}.", sides, first.text,
                     first.count > 1 ? fmt::format(" ({})", grouped(first.count)) : std::string());
}

// Wall times vary with the host. If they are inconclusive, GPU busy time may not be.
std::string busy_clause(const Diff& diff, std::string_view stage) {
  for (const Comparison& each : diff.comparisons) {
    const bool busy = each.quantity == "step_busy" || each.quantity == "busy";
    if (each.stage != stage || !busy || each.answer != compare::Answer::changed ||
        !is_shown(diff, each))
      continue;
    constexpr double kPercent = 100;
    return fmt::format("{} keeps the {} busy for {:.2f} % {} time", stage,
                       is_of_cpu(diff) ? "CPU" : "GPU", std::abs(each.relative->value) * kPercent,
                       each.relative->value < 0 ? "less" : "more");
  }
  return {};
}

std::string stage_words(const Diff& diff) {
  std::vector<std::string> parts;  // changes come first
  std::vector<std::string> unchanged;
  std::vector<std::string> unknown;
  for (const compare::StageDiff& stage : diff.stages) {
    const Comparison* wall = headline(diff, stage.stage);
    if (wall == nullptr || !wall->relative || wall->answer == compare::Answer::cannot_tell) {
      unknown.push_back(stage.stage);
      if (const std::string busy = busy_clause(diff, stage.stage); !busy.empty()) {
        parts.push_back(busy);
      }
    } else if (wall->answer == compare::Answer::changed) {
      parts.push_back(fmt::format("{} is {}", stage.stage, speed_words(wall->relative->value)));
    } else {
      unchanged.push_back(stage.stage);
    }
  }
  if (!unchanged.empty()) {
    parts.push_back(fmt::format("{} {} unchanged within {}", enumeration(unchanged),
                                unchanged.size() == 1 ? "is" : "are",
                                threshold_words(diff.threshold)));
  }
  if (!unknown.empty()) {
    parts.push_back(
        fmt::format("it is undecided whether the wall time of {} changed", enumeration(unknown)));
  }
  std::string words = joined(parts, "; ") + ".";
  if (words.starts_with("it is")) words.front() = 'I';
  return words;
}

}  // namespace

std::string speed_words(double relative) {
  const double times = 1 + relative;
  constexpr double kTwice = 2;
  const double factor = times >= 1 || times <= 0 ? times : 1 / times;
  const std::string_view word = relative < 0 ? "fast" : "slow";
  if (std::abs(factor - kTwice) <= kAboutTwice) return fmt::format("twice as {}", word);
  if (factor > kTwice) return fmt::format("{:.1f} times as {}", factor, word);
  constexpr double kPercent = 100;
  return fmt::format("{:.2f} % {}er", std::abs(relative) * kPercent, word);
}

std::string summary_words(const Diff& diff) {
  if (!diff.damage.empty()) return damage_words(diff);
  if (diff.verdict == compare::Verdict::not_comparable) {
    return diff.stages.empty()
               ? "The sides are not comparable."
               : "The sides are not comparable; their figures are only listed side by side.";
  }
  if (diff.identical) return "Both sides hold the same measurements.";
  if (diff.stages.empty() || diff.stages.front().unit == compare::TimeUnit::capture) {
    return "No stage was found on both sides; kernels of whole captures are listed side by side.";
  }
  return stage_words(diff);
}

}  // namespace llmprof::report
