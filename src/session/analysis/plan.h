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
#include "session/bundle/export_rows.h"
#include "session/bundle/inputs.h"
#include "session/bundle/records.h"

namespace llmprof::session {

// What `analyze`, `merge` and `report` are asked for.
struct AnalyzeOptions {
  std::vector<fs::path> inputs;
  std::optional<fs::path> out;  // default: tmp/analyze/<run id>
  bool force = false;           // write into a folder that is not empty
  bool in_place = false;      // into the one input, a run folder: replaces reports, keeps captures
  std::optional<size_t> top;  // rows of kernels.md; all of them by default
  Exports exports;
  std::optional<fs::path> config_folder;  // overlays the shipped conf/

  // What ran, and which part of it to analyze.
  analysis::AnalysisOptions requested;
  // config.json, a folder with one, or a preset; default: that of a run folder's inputs.yaml
  std::optional<std::string> model;
  std::optional<std::string> steps;  // "4:12", as parse_step_range reads it
};

// Read while the inputs are: it takes as long as reading a small capture. What is built in is
// known to be good; a user's own files were checked before the plan was made.
using LoadingRules = std::shared_future<Result<std::shared_ptr<const analysis::AnalysisRules>>>;

// An analysis that was checked and can begin.
struct AnalysisPlan {
  std::vector<Input> inputs;
  RunInputs run;  // what the run folder records about itself
  LoadingRules rules;
  analysis::AnalysisOptions options;
  Diagnostics notes;  // about the request and the run folder's records
};

// Finds everything that can be wrong with the request itself, before a large file is read for it.
AnalysisPlan plan_analysis(const AnalyzeOptions& options);

// What `llmprof analyze` knows about kernels, stages and GPUs, with the user's files over ours.
analysis::AnalysisRules load_analysis_rules(const std::optional<fs::path>& config_folder);

// Replaces what the plan knows from the records of a run by what that folder records; the user's
// own word stands.
void read_run_records(const fs::path& run, const AnalyzeOptions& options, AnalysisPlan& plan);

// Adds what only the workload's own metrics know; `metrics` is what was read of them. They record
// what really ran, so that the run's inputs.yaml fills only what they leave out.
void complete_plan(const std::optional<trace::WorkloadMetrics>& metrics, AnalysisPlan& plan);

}  // namespace llmprof::session
