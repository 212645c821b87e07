#include "session/analysis/plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "base/units.h"
#include "config/config_tree.h"
#include "profile/machine_load.h"
#include "readers/shared/reader.h"
#include "session/bundle/run_dir.h"

namespace llmprof::session {
namespace {

using profile::RecordingName;

// All but the control run.
constexpr std::array kProfiled = {RecordingName::collector, RecordingName::nsys, RecordingName::ncu,
                                  RecordingName::torch};
constexpr size_t kLargestStatus = 1UL << 20U;

std::optional<trace::WorkloadMetrics> metrics_in(const fs::path& folder) {
  const fs::path file = folder / "metrics.json";
  if (!is_file(file)) return std::nullopt;
  trace::TraceBuilder scratch;
  if (!readers::kStage1MetricsReader.read(file, scratch)) return std::nullopt;
  return scratch.trace().workload;
}

// Whether a command ran the workload, instead of exporting or converting.
bool runs_workload(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames = {"control", "record", "profile", "torch"};
  return std::ranges::any_of(kNames,
                             [&](std::string_view known) { return name.starts_with(known); });
}

// The last command in a recording's status.json that ran the workload.
struct CommandStatus {
  std::optional<double> seconds;
  std::optional<profile::RecordingLoad> load;
};

CommandStatus status_in(const fs::path& run, RecordingName pass) {
  CommandStatus status;
  const auto file =
      read_all(run / to_string(pass) / "status.json", kLargestStatus)
          .and_then([](const std::string& text) { return config::parse_json(text, {}); });
  if (!file) return status;
  const config::ConfigNode& root = file->root;
  for (const config::ConfigNode& row : (root.is_list() ? root : root["commands"]).children) {
    if (!runs_workload(row["name"].text)) continue;
    const auto seconds = row["seconds"].number();
    if (seconds && *seconds > 0) status.seconds = seconds;
    const auto cpus = row["load"]["cpus"].number();
    const auto used = row["load"]["used"].number();
    const auto others = row["load"]["others"].number();
    if (!seconds || !cpus || !used || !others) continue;
    status.load = profile::RecordingLoad{pass, *seconds, *cpus, *used, *others};
  }
  return status;
}

profile::RecordingOverhead overhead(RecordingName pass, std::string stage, double control_ms,
                                    double profiled_ms) {
  return {.pass = pass,
          .stage = std::move(stage),
          .control = {control_ms},
          .profiled = {profiled_ms},
          .ratio = profiled_ms / control_ms,
          .other_cause = {}};
}

// Request times vary: a difference within twice their deviation may not come from profiling.
bool within_spread(const trace::WorkloadMetrics::StageTiming& control,
                   const trace::WorkloadMetrics::StageTiming& profiled) {
  constexpr double kDeviations = 2;
  const double spread = control.std_ms.value_or(0) + profiled.std_ms.value_or(0);
  return std::abs(profiled.mean_ms - control.mean_ms) <= kDeviations * spread;
}

void add_stages(RecordingName pass, const trace::WorkloadMetrics& control,
                const trace::WorkloadMetrics& profiled,
                std::vector<profile::RecordingOverhead>& rows) {
  for (const trace::WorkloadMetrics::StageTiming& own : control.stages) {
    for (const trace::WorkloadMetrics::StageTiming& other : profiled.stages) {
      if (own.name != other.name || own.mean_ms <= 0) continue;
      rows.push_back(overhead(pass, to_printable(own.name), own.mean_ms, other.mean_ms));
      if (within_spread(own, other)) rows.back().other_cause = profile::OtherCause::spread;
    }
  }
}

}  // namespace

std::vector<profile::RecordingOverhead> measure_overhead(const fs::path& run) {
  std::vector<profile::RecordingOverhead> rows;
  const auto control = metrics_in(run / to_string(RecordingName::stage1));
  const auto control_time = status_in(run, RecordingName::stage1).seconds;
  for (const RecordingName pass : kProfiled) {
    const size_t before = rows.size();
    const auto profiled = metrics_in(run / to_string(pass));
    // Under ncu the workload may have run a shorter request.
    if (control && profiled && pass != RecordingName::ncu)
      add_stages(pass, *control, *profiled, rows);
    if (rows.size() > before) continue;
    const auto time = status_in(run, pass).seconds;
    if (!time || !control_time) continue;
    rows.push_back(overhead(pass, "whole run", *control_time * kMillisecondsPerSecond,
                            *time * kMillisecondsPerSecond));
    rows.back().whole_run = true;
  }
  const std::vector<profile::RecordingLoad> loads = machine_load(run);
  const auto was_short = [&](RecordingName pass) {
    return std::ranges::any_of(loads, [&](const profile::RecordingLoad& load) {
      return load.pass == pass && profile::cpus_were_short(load);
    });
  };
  for (profile::RecordingOverhead& row : rows) {
    if (was_short(RecordingName::stage1) || was_short(row.pass))
      row.other_cause = profile::OtherCause::cpus_short;
  }
  return rows;
}

std::vector<profile::RecordingLoad> machine_load(const fs::path& run) {
  std::vector<profile::RecordingLoad> passes;
  const auto add = [&](RecordingName pass) {
    if (const auto load = status_in(run, pass).load) passes.push_back(*load);
  };
  add(RecordingName::stage1);
  for (const RecordingName pass : kProfiled) add(pass);
  return passes;
}

}  // namespace llmprof::session
