#pragma once

#include <vector>

#include "analysis/findings/findings.h"
#include "analysis/findings/stage_facts.h"

namespace llmprof::analysis {

// Each looks at one stage and adds what it finds; findings too small to report are removed later.

// CUDA graphs whose kernels the capture does not show: reported for the stage with most of them.
void find_hidden_time(const trace::Trace& trace, const std::vector<StageFacts>& all,
                      std::vector<Finding>& findings);
// The GPU waits: for launches, for one slow call on the host, for a synchronization, between steps,
// between queued kernels, at the stage's edges.
void find_idle_time(const StageFacts& facts, std::vector<Finding>& findings);
// All findings about a CPU's operators.
void find_cpu_time(const StageFacts& facts, std::vector<Finding>& findings);
// Kernels above their floor: GEMMs, attention, small kernels, copies, routing, sampling.
void find_kernel_time(const StageFacts& facts, std::vector<Finding>& findings);
// Communication and copies that computation does not hide.
void find_transfers(const StageFacts& facts, std::vector<Finding>& findings);
// Clocks far below the GPU's maximum, or lowered by heat or power, in the stage.
void find_low_clocks(const StageFacts& facts, const Stages& stages, const Counters& counters,
                     std::vector<Finding>& findings);
void find_step_outliers(const StageFacts& facts, const Stages& stages,
                        std::vector<Finding>& findings);
// Kernels that reach neither roof, where a kernel profiler measured them: only launches like those
// that it measured, because another stage runs the same kernel on other sizes.
void find_latency_bound(const StageFacts& facts, const trace::Trace& trace, const Stages& stages,
                        const Roofline& roofline, std::vector<Finding>& findings);

}  // namespace llmprof::analysis
