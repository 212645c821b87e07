#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/naming/classes.h"
#include "analysis/stages/stages.h"
#include "llm/cost.h"
#include "llm/gpu_spec.h"
#include "llm/model_spec.h"
#include "profile/reasons.h"
#include "profile/stages.h"

namespace llmprof::analysis {

// A figure and where it comes from.
struct TokenCount {
  uint64_t value = 0;
  std::string source;  // "--prompt-tokens", "workload's metrics.json", "number of decode steps"
};

// What the user or the workload states about the run.
struct Workload {
  std::optional<TokenCount> prompt_tokens;
  std::optional<TokenCount> new_tokens;
  std::optional<TokenCount> batch;
  llm::Parallelism parallel;
  uint32_t ranks = 1;  // of the job that the capture belongs to
  uint64_t images = 0;
  std::string command;  // empty: unknown
};

// How well one stage uses one GPU. Ratios are relative to dense peaks, 0 to 1. They are absent,
// with `why_not`, if an input is missing or a ratio above 1 shows that an input is wrong.
struct StageUtilization {
  uint32_t stage = 0;
  llm::PassCost cost;      // of one instance on one GPU: all its passes together
  bool whole_cost = true;  // false: contexts are unknown; excludes attention and the KV cache
  profile::Reasons basis;  // the passes that the cost counts
  // The share of the cost in traced steps, which figures on busy time use. None: unknown.
  std::optional<double> traced_share = 1;
  double peak_flops = 0;
  std::string peak_name;  // "bf16 dense"
  double peak_bandwidth = 0;
  profile::Ratios mfu;
  profile::Ratios mbu;
  profile::Reasons why_not;
  // No model is known: the cost is what the program recorded with its operators.
  bool from_operators = false;
  // The recorded work, if the model's cost is known too.
  std::optional<profile::RecordedWork> recorded;
  // The least time that one instance could take on this GPU: the longer of FLOPs and bytes at peak.
  std::optional<Nanoseconds> floor;
  bool memory_bound = false;
};

// User input that the capture contradicts or that cannot be right.
struct InputWarning {
  std::string code;  // as in Diagnostic
  std::string message;
};

// A figure above its peak shows that an input is wrong. Then no stage gets any figure, since all
// are computed from the same inputs.
struct Utilization {
  std::optional<llm::ModelSpec> model;
  std::optional<llm::GpuSpec> gpu;
  trace::DeviceKind device = trace::DeviceKind::gpu;
  Workload workload;
  std::vector<StageUtilization> stages;  // one per stage
  profile::Reasons why_not;              // for all stages: no model, unknown GPU, no timeline
  std::vector<InputWarning> warnings;
};

// What the stages ran on. `captured` is the capture's GPU if the user's `wanted` differs.
struct RequestedDevice {
  std::string wanted;
  std::optional<std::string> captured = std::nullopt;
  trace::DeviceKind kind = trace::DeviceKind::gpu;
};

// What one instance of a stage computed and moved, as the program recorded it with its operators:
// the mean over instances, without warm-ups. One part per kernel class; attention's bytes are its
// cache.
struct RecordedWork {
  llm::PassCost cost;
  profile::Reasons basis;  // the number of operators
};

// One entry per stage; all empty if no operator has FLOPs or bytes.
std::vector<std::optional<RecordedWork>> recorded_work(const trace::Trace& trace,
                                                       const Stages& stages,
                                                       const DescribedNames& names);

// Without a model, FLOPs and bytes come from the operators, if they recorded them.
Utilization utilization(const Stages& stages, const std::optional<llm::ModelSpec>& model,
                        const std::optional<llm::GpuSpec>& gpu, const Workload& workload,
                        const RequestedDevice& device,
                        const std::vector<std::optional<RecordedWork>>& recorded = {});

}  // namespace llmprof::analysis
