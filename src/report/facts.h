#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/collection/stage_tracing.h"
#include "analysis/profile.h"

namespace llmprof::report {

// What reports say beyond the analyses' own figures, worked out once, so that profile.json and
// every report hold the same values. Times are nanoseconds, shares 0 to 1.

// A part of a stage's time budget.
struct BudgetRow {
  size_t part = 0;                 // as in PartTimes
  Nanoseconds total = 0;           // over all instances that are no warm-up
  double time = 0;                 // an instance, mean
  double share = 0;                // of wall
  double share_of_traced = 0;      // of wall less what was not traced; 0 of that itself
  std::optional<double> per_step;  // of decode steps that were traced; none of what was not
};

struct StageFacts {
  uint64_t instances = 0;  // warm-ups included
  uint64_t warmups = 0;
  uint64_t steps = 0;                   // of instances that are no warm-up, traced
  uint64_t decode_steps = 0;            // of those, steps that give a token for each sequence
  double share_of_stage_time = 0;       // its wall time over that of all stages, warm-ups left out
  analysis::StageTracing tracing;       // by our collector
  std::optional<double> not_traced;     // of wall, an instance, mean; none where all was traced
  std::optional<double> busy_share;     // GPU busy over wall, less what was not traced
  std::optional<double> wall_per_step;  // of all decode steps
  std::vector<BudgetRow> budget;        // what is not zero, longest first
  std::optional<double> idle;           // an instance, mean; none without a budget
  std::optional<double> idle_share;     // of wall, less what was not traced
  const analysis::StageUtilization* utilization = nullptr;
  const analysis::StageCounters* counters = nullptr;  // where anything was sampled in it
  std::optional<double> wall_over_floor;
  std::optional<double> recorded_over_model;  // FLOPs of operators over the model's
  std::optional<double> intensity;            // FLOP a byte, of the model
  std::optional<double> ridge;                // FLOP a byte where the GPU's two roofs meet
};

// A stage's layers taken together, by pass.
struct LayerSummary {
  uint32_t stage = 0;
  uint32_t model = 0;   // LayerRow::model
  uint64_t passes = 0;  // that show these layers
  size_t layers = 0;
  double mean = 0;  // kernel time a layer
  double min = 0;
  double max = 0;
  struct Part {
    std::string name;  // "attn", "outside layers"
    double time = 0;   // kernel time a pass, all layers
    double share = 0;  // of the kernel time of all layers and of what is outside of them
  };
  std::vector<Part> parts;  // longest first
};

// What the workload measured by itself beside what this capture shows.
struct Stage1Row {
  std::string stage;
  std::optional<double> mean_ms;
  std::optional<double> std_ms;
  std::optional<double> captured_ms;
  std::optional<double> captured_over_stage1;  // what capturing cost, where both ran alike
  std::optional<double> mfu;
};

// A kernel name on all devices together.
struct NamedKernel {
  size_t row = 0;       // of the ranking: its longest one
  std::string devices;  // "cuda:0, cuda:1"
  uint64_t calls = 0;
  Nanoseconds total = 0;
  double share = 0;  // of the time of all kernels

  [[nodiscard]] double mean() const {
    return static_cast<double>(total) / static_cast<double>(calls == 0 ? 1 : calls);
  }
};

// Kernel time by what bounds the kernels, shares of the time of all kernels.
struct BoundShares {
  double memory = 0;
  double compute = 0;
  double latency = 0;
  double unknown = 0;
};

// How much of the GPU's work (kernels, copies and fills) framework operators launched.
struct OperatorCoverage {
  Nanoseconds time = 0;
  std::optional<double> share_of_gpu_time;
  std::optional<double> share_of_kernels;  // by number
  uint64_t graph_kernels = 0;              // replayed by CUDA graphs
};

struct Facts {
  std::vector<StageFacts> stages;  // one a stage
  // A prefill and a decode, means; none where instances are steps or were narrowed to some.
  std::optional<double> request;
  bool request_spread = false;  // the means it is made of say little
  std::optional<double> tokens_per_s_per_sequence;
  std::optional<double> tokens_per_s;       // of the whole batch
  std::optional<double> busy_share;         // of all stages, as a stage's, warm-ups left out
  std::optional<double> kernels_in_stages;  // share of all kernels
  std::optional<double> time_in_stages;     // share of the time of all kernels
  uint64_t decode_steps = 0;                // of all stages, warm-ups left out
  std::vector<size_t> instance_of_stage;    // an instance's place among those of its stage
  std::vector<LayerSummary> layers;
  std::vector<Stage1Row> stage1;
  std::vector<NamedKernel> top_names;  // longest first, the first ten
  std::optional<BoundShares> bounds;   // where a kernel profiler's metrics were read
  OperatorCoverage operators;
};

Facts derive_facts(const analysis::Profile& profile);

// Kernel time a decode step; none where it has no part in decoding.
std::optional<double> time_per_token(const Facts& facts,
                                     const std::vector<analysis::StageTime>& stages);

// Of decode steps with one batch: each gives every sequence a token.
std::optional<double> tokens_per_second(const analysis::BatchTime& batch);

double per_pass(const analysis::LayerRow& row, Nanoseconds time);

}  // namespace llmprof::report
