#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/engine/engine_rules.h"
#include "analysis/naming/classes.h"
#include "analysis/stages/stage_rules.h"
#include "llm/gpu_spec.h"
#include "llm/model_spec.h"
#include "profile/context.h"
#include "profile/reasons.h"
#include "profile/requests.h"
#include "profile/run.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// Configuration that the passes use.
struct AnalysisRules {
  KernelRules kernels;
  StageRules stages;
  llm::GpuSpecs gpus;
  EngineRules engines;
};

// What a program wrote to its standard output and error.
struct ProgramOutput {
  std::string file;
  std::string text;
};

// A run folder's own records, apart from its captures.
struct RunRecord {
  std::vector<profile::RecordingOverhead> overhead;
  std::vector<profile::CaptureFailure> captures_failed;
  std::vector<profile::RecordingLoad> load;
  std::vector<ProgramOutput> outputs;  // of the collector's recording
};

// What the user asked for.
struct AnalysisOptions {
  profile::Selection selection;  // the part of the capture to analyze
  bool use_annotations = true;
  std::optional<llm::ModelSpec> model;
  std::optional<std::string> gpu;  // GPU name; the capture's own by default
  profile::Workload workload;      // what the user or the run states
  // Another run of the same program, profiled for its operators; its kernels are not reported.
  const trace::Trace* operators_of = nullptr;
  // The control run: only launches and waits, as the launch interceptor noted them.
  const trace::Trace* control = nullptr;
  RunRecord run;
  // Limits for requests (--slo); empty: those of their file.
  std::vector<profile::Objective> objectives;
  // Words for the reasons in diagnostics and errors, which are then final; null: without them.
  std::optional<std::string> (*reason_words)(const profile::Reasons&) = nullptr;
  std::string tool_version;
};

}  // namespace llmprof::analysis
