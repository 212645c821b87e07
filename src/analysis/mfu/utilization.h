#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/naming/classes.h"
#include "analysis/stages/stages.h"
#include "base/diagnostics.h"
#include "llm/cost.h"
#include "llm/gpu_spec.h"
#include "llm/model_spec.h"
#include "profile/context.h"
#include "profile/reasons.h"
#include "profile/stages.h"

namespace llmprof::analysis {

struct Peak {
  double flops = 0;  // FLOP/s
  std::string name;  // "bf16 dense"
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

// A figure above its peak shows that an input is wrong. Then no stage gets any figure, since all
// are computed from the same inputs.
struct UseOfPeaks {
  std::optional<llm::ModelSpec> model;
  std::optional<llm::GpuSpec> gpu;
  trace::DeviceKind device = trace::DeviceKind::gpu;
  profile::Workload workload;
  std::vector<StageUtilization> stages;  // one per stage
  profile::Reasons why_not;              // for all stages: no model, unknown GPU, no timeline
  // Null if nothing was computed.
  [[nodiscard]] const StageUtilization* of(uint32_t stage) const {
    return stage < stages.size() ? &stages[stage] : nullptr;
  }
  Diagnostics warnings;  // of user input that the capture contradicts or that cannot be right
};

// What the stages ran on. `captured` is the capture's GPU if the user's `wanted` differs.
struct RequestedDevice {
  std::string wanted;
  std::optional<std::string> captured = std::nullopt;
  trace::DeviceKind kind = trace::DeviceKind::gpu;
  uint32_t ranks = 1;  // of the job that the capture belongs to
};

// One entry per stage, with the cost and its basis: what one instance computed and moved, as the
// program recorded it with its operators. The mean over instances, without warm-ups; one part per
// kernel class; attention's bytes are its cache. All empty if no operator has FLOPs or bytes.
using RecordedStages = std::vector<std::optional<StageUtilization>>;
RecordedStages recorded_work(const trace::Trace& trace, const Stages& stages,
                             const DescribedNames& names);

// Without a model, FLOPs and bytes come from the operators, if they recorded them.
UseOfPeaks utilization(const Stages& stages, const std::optional<llm::ModelSpec>& model,
                       const std::optional<llm::GpuSpec>& gpu, const profile::Workload& workload,
                       const RequestedDevice& device, const RecordedStages& recorded = {});

}  // namespace llmprof::analysis
