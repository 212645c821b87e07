#include "exports/clocks/wall_clock.h"

namespace llmprof::exports {
namespace {

using profile::CaptureFormat;

bool is_timeline(CaptureFormat format) {
  return format == CaptureFormat::nsys_sqlite || format == CaptureFormat::pytorch_trace ||
         format == CaptureFormat::collector_log;
}

template <class IsWanted>
std::optional<int64_t> wall_clock_of(const profile::Context& context, const IsWanted& is_wanted) {
  std::optional<int64_t> common;
  for (const profile::Capture& capture : context.captures) {
    if (!is_wanted(capture.format)) continue;
    if (!capture.wall_clock_ns || (common && common != capture.wall_clock_ns)) return std::nullopt;
    common = capture.wall_clock_ns;
  }
  return common;
}

}  // namespace

std::optional<int64_t> wall_clock_of_timeline(const profile::Context& context) {
  return wall_clock_of(context, is_timeline);
}

std::optional<int64_t> wall_clock_of_requests(const profile::Profile& profile) {
  using enum profile::JoinState;
  if (!profile.requests) return std::nullopt;
  const profile::JoinState state = profile.requests->join.state;
  if (state == joined || state == low_coverage || state == no_token_times) {
    return wall_clock_of_timeline(profile.context);
  }
  return wall_clock_of(profile.context,
                       [](CaptureFormat format) { return format == CaptureFormat::requests; });
}

}  // namespace llmprof::exports
