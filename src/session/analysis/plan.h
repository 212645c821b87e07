#pragma once

#include <cstddef>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/passes/request.h"
#include "base/diagnostics.h"
#include "base/error.h"
#include "profile/context.h"
#include "profile/run.h"
#include "session/bundle/export_rows.h"
#include "session/bundle/inputs.h"
#include "session/bundle/records.h"

namespace llmprof::session {

// The options of `analyze`, `merge` and `report`.
struct AnalyzeOptions {
  std::vector<fs::path> inputs;
  std::optional<fs::path> out;  // default: tmp/analyze/<run id>
  bool force = false;           // write into a folder that is not empty
  bool in_place = false;      // into the only input, a run folder: replaces reports, keeps captures
  std::optional<size_t> top;  // rows of kernels.md; default: all
  Exports exports;
  std::optional<fs::path> config_folder;  // overlays the shipped conf/

  // What ran, and which part to analyze.
  analysis::AnalysisOptions requested;
  // config.json, a folder with one, or a preset; default: from the run folder's inputs.yaml
  std::optional<std::string> model;
  std::optional<std::string> steps;  // "4:12", as parse_step_range reads it
  std::optional<std::string> slo;    // "ttft=500ms", as parse_objectives reads it
};

// Loaded while the inputs are read: it takes as long as reading a small capture. Built-in rules are
// known to be valid; a user's own files were checked before the plan was made.
using LoadingRules = std::shared_future<Result<std::shared_ptr<const analysis::AnalysisRules>>>;

// A checked analysis that is ready to start.
struct AnalysisPlan {
  std::vector<Input> inputs;
  RunInputs run;  // what the run folder records about itself
  LoadingRules rules;
  analysis::AnalysisOptions options;
  Diagnostics notes;  // about the request and the run folder's records
};

// Finds all errors in the request itself before any large file is read.
AnalysisPlan plan_analysis(const AnalyzeOptions& options);

// The rules for kernels, stages and GPUs, with the user's files layered over the shipped ones.
analysis::AnalysisRules load_analysis_rules(const std::optional<fs::path>& config_folder);

// Replaces the plan's run records with those of the folder `run`. The user's options have
// precedence.
void read_run_records(const fs::path& run, const AnalyzeOptions& options, AnalysisPlan& plan);

// The cost of each recording of a run, from stage1/metrics.json (the control run) and the
// metrics.json in the recording's folder; if they have no stage in common, from the durations in
// status.json. Empty if the folder is not a run, or nothing was timed twice.
std::vector<profile::RecordingOverhead> measure_overhead(const fs::path& run);

// How busy the CPUs were in each recording, from its status.json; recordings without this value are
// skipped.
std::vector<profile::RecordingLoad> machine_load(const fs::path& run);

// Adds facts that only the workload's own metrics contain. They record what really ran, so the
// run's inputs.yaml only fills what they lack.
void complete_plan(const std::optional<trace::WorkloadMetrics>& metrics, AnalysisPlan& plan);

}  // namespace llmprof::session
