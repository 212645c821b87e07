#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/stages/step_batch.h"
#include "analysis/statistics/statistics.h"
#include "analysis/tracing/untraced_gpu_time.h"
#include "profile/reasons.h"
#include "profile/stages.h"
#include "trace/trace.h"

namespace llmprof::analysis {

using InstanceId = trace::Id<struct StageInstanceKind>;  // row of Stages::instances
using StepId = trace::Id<struct StepKindTag>;            // row of Stages::steps

using profile::ConfidenceLevel;
using profile::FindingValues;
using profile::make_reason;
using profile::ReasonKind;
using profile::StageSource;
using profile::WarmupReason;

// GPU work of one device. A sum counts overlap twice, busy time once. Kernels, memory operations
// and graph replays with hidden kernels all keep a GPU busy; `kernel_sum` covers only kernels.
struct GpuWork {
  uint64_t kernel_count = 0;
  Nanoseconds kernel_sum = 0;
  Nanoseconds hidden_graph_sum = 0;  // replays with hidden kernels
  Nanoseconds memory_sum = 0;
  Nanoseconds busy = 0;  // union of all work
  bool any = false;
  Nanoseconds first_start = 0;  // of all work
  Nanoseconds last_end = 0;

  enum class Kind : uint8_t { kernel, memory, replay };
  // Call in order of start.
  void add(Kind kind, Nanoseconds start, Nanoseconds end);
};

// The share of captures not used for any rule in which stages of this level were right
// (bench/detection).
double measured_confidence(ConfidenceLevel level);

// One occurrence of a stage on one GPU: a prefill, a decode loop or, under continuous batching, one
// engine step. A range with kernels on several GPUs gives one instance per GPU.
struct StageInstance {
  uint32_t stage = 0;  // row of Stages::stages
  trace::ProcessId process;
  trace::DeviceId device;  // none: no GPU work belongs to it
  Nanoseconds start = 0;
  Nanoseconds end = 0;        // end of its last GPU work if that is after the range's end
  Nanoseconds range_end = 0;  // end of the range; `end` for detected instances
  bool warmup = false;        // excluded from all statistics
  std::optional<WarmupReason> why_warmup;
  bool captures_graph = false;  // a warm-up that captures a CUDA graph
  bool open_ended = false;      // its range was still open when recording ended
  bool traced_in_part = false;  // a tracing window started or ended within it
  uint32_t first_step = 0;      // rows of Stages::steps
  uint32_t step_count = 0;
  // Steps without a row, because our collector was not tracing: `work` excludes them, the wall time
  // includes them.
  uint32_t untraced_steps = 0;
  GpuWork work;

  [[nodiscard]] GpuOfProcess gpu() const { return {process, device}; }
  [[nodiscard]] Nanoseconds wall() const { return end - start; }
  [[nodiscard]] uint32_t all_steps() const { return step_count + untraced_steps; }
};

// One forward pass. Its wall time runs from the end of the previous step's last GPU work in the
// same instance (or the instance's start) to the end of its own. After untraced work, the end of
// the previous step is unknown: the wall time then runs from the step's own first GPU work, and
// statistics exclude it.
struct Step {
  InstanceId instance;
  StepKind kind = StepKind::decode;
  std::optional<uint64_t> batch;   // sequences
  std::optional<uint64_t> tokens;  // that pass through the layers
  StepBatch phases;                // from an engine's annotation
  uint32_t layers = 0;  // attention layers of a detected pass: distinguishes models; 0 if unknown
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  bool after_untraced = false;
  uint32_t untraced_before = 0;  // untraced steps between the previous row and this one
  GpuWork work;

  [[nodiscard]] Nanoseconds wall() const { return end - start; }
};

struct Stage {
  std::string name;  // "prefill", "decode", "mixed", or a configured one
  StageSource source = StageSource::nvtx;
  std::string label;          // of the range, as recorded; empty if detected
  profile::Reasons evidence;  // how it was detected
  // Of instances that are not warm-up.
  Summary wall;
  Summary kernel_sum;
  Summary busy;
  Summary kernel_count;  // plain numbers
  Summary step_wall;     // of all their steps with known wall time; count 0 without any
  // Only the program's first one or two instances were recorded; others may have run unseen.
  bool only_the_first = false;
};

// The instance and step of each row of the trace's tables.
struct WorkOwners {
  std::vector<InstanceId> kernel_instance;
  std::vector<StepId> kernel_step;
  std::vector<InstanceId> memory_instance;
  std::vector<StepId> memory_step;
  std::vector<InstanceId> replay_instance;
  std::vector<StepId> replay_step;

  // Calls `visit(table, instances, steps)` for kernels, memory operations and graph replays.
  template <class Trace, class Visit>
  void each(Trace& trace, const Visit& visit) {
    visit(trace.kernels, kernel_instance, kernel_step);
    visit(trace.memory_operations, memory_instance, memory_step);
    visit(trace.graph_replays, replay_instance, replay_step);
  }
  // New rows have no owner.
  void resize(const trace::Trace& trace) {
    each(trace, [](const auto& table, auto& instances, auto& steps) {
      instances.resize(table.size());
      steps.resize(table.size());
    });
  }
};

// Share of a kernel (or shape) in one stage: all instances, and those that are not warm-up.
struct StageTime : Calls {
  Calls steady;
  uint64_t steady_measured = 0;  // launches like one that a kernel profiler measured

  StageTime& operator+=(const StageTime& more) {
    Calls::operator+=(more);
    steady += more.steady;
    steady_measured += more.steady_measured;
    return *this;
  }
};

// A part of a stage that is reported as a note (vision tower, projector).
struct NotedPart {
  uint32_t stage = 0;
  std::string name;
  uint64_t instances = 0;
  Nanoseconds range_time = 0;  // CPU duration of its ranges; if detected, from first to last kernel
  uint64_t kernel_count = 0;
  Nanoseconds kernel_sum = 0;
};

struct Stages {
  std::vector<Stage> stages;             // in order of first occurrence
  std::vector<StageInstance> instances;  // by start
  std::vector<Step> steps;               // by instance, then start
  WorkOwners owners;
  UntracedGpuTime untraced;  // when GPUs may have worked unseen
  std::vector<NotedPart> notes;
  bool serving = false;  // instances are an engine's steps
  // Not every decode step gives each of its sequences one token (speculative decoding).
  bool speculative = false;
  std::optional<ConfidenceLevel> confidence;  // detection only
  profile::Reasons reason;                    // how the stages were found, or why there are none

  // Rows have moved: `place` has the new row of each. Removed rows lose their owner.
  void renumber_instances(const std::vector<uint32_t>& place);
  void renumber_steps(const std::vector<uint32_t>& place);
  // Sets each instance's step rows; steps are in order.
  void count_steps();
};

// How much of a stage our collector traced, over instances that are not warm-up. The share is that
// of its GPU work, by steps, since they are alike; none if unknown.
profile::StageTracing stage_tracing(const Stages& stages, uint32_t stage);
inline bool all_traced(const profile::StageTracing& tracing) {
  return tracing.share_of_steps == profile::Share{1};
}

}  // namespace llmprof::analysis
