#include <fmt/format.h>

#include "readers/ncu/launches.h"

namespace llmprof::readers {

Result<void> NcuLaunches::write(const std::filesystem::path& path, std::string_view format,
                                trace::TraceBuilder& builder) && {
  close_launch();
  if (launches_.empty()) {
    return fail_input(fmt::format("{}: {}", path.string(), ncu_refusal(messages, bad_rows)));
  }
  const trace::CaptureId id = builder.begin_capture(path, format, "Nsight Compute");
  builder.capture().tool_version = messages.version;
  for (auto& [ordinal, facts] : devices_) {
    trace::Device& device = builder.device_info(builder.device(ordinal));
    facts.capture = device.capture;
    device = std::move(facts);
  }

  std::vector<trace::IdentityId> identities;
  identities.reserve(identities_.size());
  for (trace::ProfiledIdentity identity : identities_.values()) {
    identity.capture = id;
    identity.name = builder.string(strings_[identity.name]);
    identity.shape = builder.shape(shapes_[identity.shape]);
    identity.device = builder.device(identity.device.value);
    const std::string_view ranges = strings_[identity.ranges];
    identity.ranges = ranges.empty() ? trace::StringId() : builder.string(ranges);
    identities.push_back(builder.trace().identities.intern(identity));
  }
  trace::ProfiledLaunchTable& table = builder.trace().profiled_launches;
  table.identity.reserve(table.size() + launches_.size());
  for (const trace::IdentityId launch : launches_) {
    table.identity.push_back(identities[launch.index()]);
  }
  launches_ = {};
  table.duration.insert(table.duration.end(), durations_.begin(), durations_.end());
  write_metrics(builder.trace(), identities);
  report(path.filename().string(), builder.diagnostics());
  return {};
}

// In bulk: these identities belong only to this capture, so they have no rows yet.
void NcuLaunches::write_metrics(trace::Trace& trace,
                                const std::vector<trace::IdentityId>& identities) {
  std::vector<trace::MetricId> metrics;
  for (const trace::Metric& metric : metrics_.values()) {
    metrics.push_back(trace.metrics.intern({trace.strings.intern(strings_[metric.name]),
                                            trace.strings.intern(strings_[metric.unit])}));
  }
  trace.metric_values.reserve(trace.metric_values.size() + value_count_);
  for (size_t i = 0; i < values_.size(); ++i) {
    for (size_t metric = 0; metric < values_[i].size(); ++metric) {
      const Values& values = values_[i][metric];
      if (values.count == 0) continue;
      trace.metric_values.push_back(
          {identities[i], metrics[metric], values.count, values.sum, values.min, values.max});
    }
    values_[i] = {};
  }
}

void NcuLaunches::report(std::string_view file, Diagnostics& diagnostics) const {
  const auto warn = [&](std::string_view code, uint64_t count, std::string_view message) {
    diagnostics.warn(code, fmt::format("{}: {}", file, message), count);
  };
  warn("ncu_bad_rows", bad_rows,
       "skipped malformed rows (truncated, or mixed with the program's output)");
  warn("ncu_no_duration", without_duration_,
       "launches without a measured duration; record with --metrics gpu__time_duration.sum or "
       "--section SpeedOfLight");
  warn("ncu_no_unit", without_unit_,
       "durations without a unit were taken as nanoseconds, ncu's base unit");
  warn("ncu_mixed_decimals", other_convention,
       "skipped values with another decimal separator than the rest of the file");
  warn("ncu_metrics_left_out", without_metrics_,
       "launches kept their duration but not their metrics: too many different launches for the "
       "number of metrics; record fewer metrics (--section, --metrics) or split the file");
  warn("ncu_reported_errors", messages.errors, ncu_failure(messages));
  warn("ncu_file_damaged", damage.empty() ? 0 : 1, damage + "; everything before it was read");
  diagnostics.info("ncu_rounded_durations",
                   fmt::format("{}: the details page rounds durations to two decimals; `ncu "
                               "--import REPORT.ncu-rep --page raw --csv` gives them in full",
                               file),
                   rounded_);
}

Result<void> read_ncu_file(const std::filesystem::path& path, std::string_view format, NcuPass pass,
                           trace::TraceBuilder& builder) {
  Result<NcuLaunches> launches = pass(path, DecimalConvention::point);
  if (!launches) return fail_with(launches.error());
  if (launches->other_convention > 0) {
    Result<NcuLaunches> comma = pass(path, DecimalConvention::comma);
    if (comma && comma->other_convention < launches->other_convention) launches = std::move(comma);
  }
  return std::move(*launches).write(path, format, builder);
}

}  // namespace llmprof::readers
