#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/passes/request.h"
#include "base/diagnostics.h"
#include "base/error.h"
#include "session/analysis/analyze_options.h"
#include "session/bundle/inputs.h"
#include "session/bundle/run_inputs.h"

namespace llmprof::session {

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
Result<AnalysisPlan> plan_analysis(const AnalyzeOptions& options);

// What `llmprof analyze` knows about kernels, stages and GPUs, with the user's files over ours.
Result<analysis::AnalysisRules> load_analysis_rules(
    const std::optional<std::filesystem::path>& config_folder);

// Replaces what the plan knows from the records of a run by what that folder records; the user's
// own word stands.
Result<void> read_run_records(const std::filesystem::path& run, const AnalyzeOptions& options,
                              AnalysisPlan& plan);

// Adds what only the workload's own metrics know; `metrics` is what was read of them. They record
// what really ran, so that the run's inputs.yaml fills only what they leave out.
void complete_plan(const std::optional<trace::WorkloadMetrics>& metrics, AnalysisPlan& plan);

}  // namespace llmprof::session
