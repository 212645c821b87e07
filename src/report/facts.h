#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/profile.h"

namespace llmprof {

// What reports say beyond the analyses' own figures, worked out once, so that profile.json and
// every report hold the same values. Times are nanoseconds, shares 0 to 1.

// A part of a stage's time budget.
struct BudgetRow {
  size_t part = 0;                 // as in PartTimes
  Nanoseconds total = 0;           // over all instances that are no warm-up
  double time = 0;                 // an instance, mean
  double share = 0;                // of wall
  std::optional<double> per_step;  // of decode steps
};

struct StageFacts {
  uint64_t instances = 0;  // warm-ups included
  uint64_t warmups = 0;
  uint64_t steps = 0;                   // of instances that are no warm-up
  uint64_t decode_steps = 0;            // of those, steps that give a token for each sequence
  double share_of_stage_time = 0;       // its wall time over that of all stages, warm-ups left out
  std::optional<double> busy_share;     // GPU busy over wall
  std::optional<double> wall_per_step;  // of decode steps
  std::vector<BudgetRow> budget;        // what is not zero, longest first
  std::optional<double> idle;           // an instance, mean; none without a budget
  std::optional<double> idle_share;     // of wall
  const StageUtilization* utilization = nullptr;
  std::optional<double> wall_over_floor;
  std::optional<double> intensity;  // FLOP a byte, of the model
  std::optional<double> ridge;      // FLOP a byte where the GPU's two roofs meet
};

// A stage's layers taken together, by pass.
struct LayerSummary {
  uint32_t stage = 0;
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

struct Facts {
  std::vector<StageFacts> stages;  // one a stage
  std::optional<double> request;   // a prefill and a decode, means
  std::optional<double> tokens_per_s_per_sequence;
  std::optional<double> tokens_per_s;       // of the whole batch
  std::optional<double> busy_share;         // GPU busy over wall, all stages, warm-ups left out
  std::optional<double> kernels_in_stages;  // share of all kernels
  std::optional<double> time_in_stages;     // share of the time of all kernels
  uint64_t decode_steps = 0;                // of all stages, warm-ups left out
  std::vector<size_t> instance_of_stage;    // an instance's place among those of its stage
  std::vector<LayerSummary> layers;
  std::vector<Stage1Row> stage1;
};

Facts derive_facts(const Profile& profile);

// Kernel time a decode step; none where it has no part in decoding.
std::optional<double> time_per_token(const Facts& facts, const std::vector<StageTime>& stages);

// Of decode steps with one batch: each gives every sequence a token.
std::optional<double> tokens_per_second(const BatchTime& batch);

double per_pass(const LayerRow& row, Nanoseconds time);

}  // namespace llmprof
