#include <fmt/format.h>

#include "report/reasons/themes.h"

namespace llmprof::report {
namespace {

using profile::ReasonKind;

std::string slow_step_rule(const Given& given) {
  const double times = given.number("times_the_median");
  return fmt::format(
      "longer than the median of comparable steps (same kind, batch and tokens) by more than {} "
      "and by more than {:g} times the typical deviation of the faster half of them; with fewer "
      "than {} comparable steps, if it is more than {} as long as the median step of its kind",
      given.whole_percent("share_above_median"), given.number("deviations_above_median"),
      given.count("comparable_steps"), times == 2 ? "twice" : fmt::format("{:g} times", times));
}

std::string longer_work(const Given& given) {
  std::string work = given.text("work");
  if (given.has("more_calls")) {
    return fmt::format("{} ({} more)", work, given.counted("more_calls", "call"));
  }
  if (given.count("calls") > 1)
    return fmt::format("{} ({} calls together)", work, given.count("calls"));
  return work;
}

std::string longer_gap(const Given& given) {
  const std::string work = given.text("work");
  if (given.count("calls") <= 1) return "gap before " + work;
  return fmt::format("gaps before {} ({} calls)", work, given.count("calls"));
}

}  // namespace

std::string step_time_words(ReasonKind kind, const Given& given) {
  switch (kind) {
    case ReasonKind::few_tracing_windows:
      return fmt::format(
          "at least {0} windows of traced and {0} of untraced steps that lie entirely inside a "
          "decode are needed, and there are {1} and {2}: decode more tokens, or shorten the period "
          "of --duty",
          given.count("windows_needed"), given.count("traced_windows"),
          given.count("untraced_windows"));
    case ReasonKind::slow_step_rule:
      return slow_step_rule(given);
    case ReasonKind::longer_work:
      return longer_work(given);
    case ReasonKind::longer_gap:
      return longer_gap(given);
    case ReasonKind::longer_small_gaps:
      return fmt::format("{} small gaps between GPU work together", given.count("gaps"));
    case ReasonKind::longer_unexplained:
      return "unexplained";
    case ReasonKind::shorter_other_parts:
      return "other parts";
    default:
      return {};
  }
}

}  // namespace llmprof::report
