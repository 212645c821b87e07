#include <fmt/format.h>

#include <cmath>

#include "base/units.h"
#include "report/reasons/themes.h"

namespace llmprof::report {
namespace {

using profile::ReasonKind;

std::string in_what(std::string_view what, const Given& given) {
  if (!given.has("in")) return std::string(what);
  return fmt::format("{} in {}", what, given.text("in"));
}

std::string host_code(const Given& given) {
  return in_what(given.flag("between_operators") ? "host code between operators"
                                                 : "host code outside of CUDA calls",
                 given);
}

// Of whole nanoseconds.
double microseconds(profile::Milliseconds time) {
  return std::round(time.value * kNanosecondsPerMillisecond) / kNanosecondsPerMicrosecond;
}

}  // namespace

std::string host_words(ReasonKind kind, const Given& given) {
  switch (kind) {
    case ReasonKind::host_call:
      return in_what(given.text("call"), given);
    case ReasonKind::host_operator:
      return in_what(given.text("operator"), given);
    case ReasonKind::host_code:
      return host_code(given);
    case ReasonKind::host_launched_graph:
      return "launched with its CUDA graph";
    case ReasonKind::host_launched_ahead:
      return fmt::format("launched {:.1f} us before the gap",
                         microseconds(given.quantity<profile::Milliseconds>("before_gap")));
    case ReasonKind::host_launched_before:
      return fmt::format("launched {:.1f} us before it began",
                         microseconds(given.quantity<profile::Milliseconds>("before_start")));
    case ReasonKind::host_not_recorded:
      return "no record of the host";
    default:
      return {};
  }
}

}  // namespace llmprof::report
