#include "cpu_llm_server/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "base/text.h"

namespace cpu_llm_server {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;
constexpr double kNanosecondsPerMillisecond = 1e6;
constexpr double kLongestSeconds = 3600;
constexpr double kMostTimesAsSlow = 1000;
constexpr int64_t kUsualEviction = 100'000'000;

constexpr std::array<std::pair<std::string_view, FaultKind>, 3> kKinds = {
    {{"pause", FaultKind::pause},
     {"evict", FaultKind::evict},
     {"slow_layer", FaultKind::slow_layer}}};

constexpr std::string_view kForms =
    "pause=at:2s,for:80ms, evict=at:2s,for:100ms, slow_layer=at:2s,for:1s,layer:1,by:3x";

// "80ms", "2.5s"
std::optional<int64_t> duration_ns(std::string_view text) {
  double unit = kNanosecondsPerSecond;
  if (text.ends_with("ms")) {
    unit = kNanosecondsPerMillisecond;
    text.remove_suffix(1);
  }
  if (!text.ends_with('s') && unit == kNanosecondsPerSecond) return std::nullopt;
  text.remove_suffix(1);
  const auto value = llmprof::parse_decimal(text);
  if (!value || !(*value >= 0) || *value * unit > kLongestSeconds * kNanosecondsPerSecond) {
    return std::nullopt;
  }
  return static_cast<int64_t>(std::llround(*value * unit));
}

std::optional<double> factor(std::string_view text) {
  if (!text.ends_with('x')) return std::nullopt;
  text.remove_suffix(1);
  const auto value = llmprof::parse_decimal(text);
  const bool is_one = value && *value >= 1 && *value <= kMostTimesAsSlow;
  return is_one ? value : std::nullopt;
}

// Whether the key belongs to this fault, and its value is one.
bool take(std::string_view key, std::string_view value, Fault& fault) {
  if (key == "at" || key == "for") {
    const auto time = duration_ns(value);
    (key == "at" ? fault.at_ns : fault.for_ns) = time.value_or(0);
    return time.has_value();
  }
  if (fault.kind != FaultKind::slow_layer) return false;
  if (key == "layer") {
    const auto layer = llmprof::parse_int(value);
    fault.slow.layer = static_cast<size_t>(layer.value_or(0));
    return layer && *layer >= 0;
  }
  const auto by = factor(value);
  fault.slow.by = by.value_or(1);
  return key == "by" && by;
}

}  // namespace

std::string_view name_of(FaultKind kind) {
  return std::ranges::find(kKinds, kind, &decltype(kKinds)::value_type::second)->first;
}

llmprof::Result<Fault> parse_fault(std::string_view text) {
  const auto refused = [&](std::string_view why) {
    return llmprof::fail(
        llmprof::ErrorKind::usage,
        fmt::format("--fault {}: {}; forms: {}", llmprof::to_printable(text), why, kForms));
  };
  const size_t equals = text.find('=');
  const auto kind =
      std::ranges::find(kKinds, text.substr(0, equals), &decltype(kKinds)::value_type::first);
  if (equals == std::string_view::npos || kind == kKinds.end()) {
    return refused("unknown kind of fault");
  }
  Fault fault;
  fault.kind = kind->second;
  if (fault.kind == FaultKind::evict) fault.for_ns = kUsualEviction;
  for (const std::string_view item : llmprof::split(text.substr(equals + 1), ',')) {
    const size_t colon = item.find(':');
    if (colon == std::string_view::npos ||
        !take(item.substr(0, colon), item.substr(colon + 1), fault)) {
      return refused(fmt::format("cannot use '{}'", llmprof::to_printable(item)));
    }
  }
  if (fault.for_ns == 0) return refused("'for' is missing");
  return fault;
}

bool FaultSchedule::may_begin(FaultKind kind, const Running& running) {
  switch (kind) {
    case FaultKind::pause:
      return running.any;
    case FaultKind::evict:
      return running.in_decode;
    case FaultKind::slow_layer:
      break;
  }
  return true;
}

FaultSchedule::Changes FaultSchedule::changes_at(int64_t now_ns, const Running& running) {
  Changes changes;
  if (!begin_ns_) return changes;
  std::erase_if(ongoing_, [&](const Ongoing& each) {
    if (each.end_ns > now_ns) return false;
    changes.end.push_back(each.fault);
    return true;
  });
  std::erase_if(pending_, [&](const Fault& fault) {
    const bool due = now_ns >= *begin_ns_ + fault.at_ns;
    if (!due || !may_begin(fault.kind, running)) return false;
    changes.begin.push_back(fault);
    if (fault.kind != FaultKind::pause) ongoing_.push_back({fault, now_ns + fault.for_ns});
    return true;
  });
  return changes;
}

std::optional<int64_t> FaultSchedule::next_end_ns() const {
  std::optional<int64_t> next;
  for (const Ongoing& each : ongoing_) next = std::min(next.value_or(INT64_MAX), each.end_ns);
  return next;
}

}  // namespace cpu_llm_server
