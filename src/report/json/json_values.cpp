#include "report/json/json_values.h"

#include "base/units.h"

namespace llmprof::report {
namespace {

constexpr size_t kStatisticsFields = 7;

Json statistics_in(const analysis::Statistics& statistics, double unit) {
  JsonObject json(kStatisticsFields);
  const auto add = [&](std::string_view name, double value) {
    json.add(name, statistics.count == 0 ? Json(nullptr) : Json(value / unit));
  };
  add("mean", statistics.mean);
  json.add("std", statistics.std ? Json(*statistics.std / unit) : Json(nullptr));
  add("min", static_cast<double>(statistics.min));
  add("p50", static_cast<double>(statistics.p50));
  add("p99", static_cast<double>(statistics.p99));
  add("max", static_cast<double>(statistics.max));
  json.add("count", statistics.count);
  return json.take();
}

}  // namespace

Json milliseconds(double nanoseconds) { return nanoseconds / kNanosecondsPerMillisecond; }

Json milliseconds(Nanoseconds time) { return milliseconds(static_cast<double>(time)); }

Json milliseconds(const std::optional<Nanoseconds>& time) {
  return time ? milliseconds(*time) : Json(nullptr);
}

Json milliseconds(const std::optional<double>& nanoseconds) {
  return nanoseconds ? milliseconds(*nanoseconds) : Json(nullptr);
}

Json text_or_null(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(to_printable(text));
}

Json statistics_ms(const analysis::Statistics& statistics) {
  return statistics_in(statistics, kNanosecondsPerMillisecond);
}

Json statistics_ms(const std::optional<analysis::Statistics>& statistics) {
  return statistics ? statistics_ms(*statistics) : Json(nullptr);
}

Json statistics_plain(const analysis::Statistics& statistics) {
  return statistics_in(statistics, 1);
}

}  // namespace llmprof::report
