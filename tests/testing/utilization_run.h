#pragma once

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "analysis/mfu/utilization.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

// A run of a small dense model, whose utilization is known.
namespace llmprof::analysis {

inline llm::ModelSpec dense_graph() {
  auto model = llm::parse_hugging_face_config(
      testing::file_bytes(testing::test_data("models") / "dense_graph_config.json"), "dense");
  EXPECT_TRUE(model) << model.error().message;
  return std::move(*model);
}

inline llm::GpuSpec h200() {
  llm::GpuSpec gpu;
  gpu.name = "H200 SXM";
  gpu.memory_bandwidth = 4.8e12;
  gpu.tensor_bf16 = 989e12;
  gpu.tensor_fp8 = 1979e12;
  return gpu;
}

inline constexpr Nanoseconds kMs = 1'000'000;

// Stages as in a capture of the dense decoder: one prefill and one decode loop per request.
class StagesOfARun {
 public:
  StagesOfARun() {
    for (const char* name : {"prefill", "decode"}) {
      Stage stage;
      stage.name = name;
      stages_.stages.push_back(stage);
    }
  }

  void instance(uint32_t stage, Nanoseconds wall, Nanoseconds busy, std::vector<Step> steps,
                bool warmup = false, size_t device = 0) {
    StageInstance item;
    item.stage = stage;
    item.process = trace::ProcessId(0);
    item.device = trace::DeviceId(device);
    item.end = wall;
    item.warmup = warmup;
    item.first_step = static_cast<uint32_t>(stages_.steps.size());
    item.step_count = static_cast<uint32_t>(steps.size());
    item.work.busy = busy;
    stages_.steps.insert(stages_.steps.end(), steps.begin(), steps.end());
    stages_.instances.push_back(item);
    if (warmup) return;
    walls_[stage].push_back(wall);
    busies_[stage].push_back(busy);
  }

  Stages take() {
    for (uint32_t i = 0; i < stages_.stages.size(); ++i) {
      stages_.stages[i].wall = summarize(walls_[i]);
      stages_.stages[i].busy = summarize(busies_[i]);
    }
    return std::move(stages_);
  }

  Stages stages_;

 private:
  std::array<std::vector<Nanoseconds>, 2> walls_;
  std::array<std::vector<Nanoseconds>, 2> busies_;
};

inline Stages dense_run() {
  StagesOfARun run;
  run.instance(0, 90 * kMs, 20 * kMs, std::vector<Step>(1), true);
  run.instance(0, 8 * kMs, 5 * kMs, std::vector<Step>(1));
  run.instance(1, 44 * kMs, 40 * kMs, std::vector<Step>(24));
  return run.take();
}

profile::Workload known_workload(uint64_t prompt) {
  profile::Workload workload;
  workload.prompt_tokens = prompt;
  workload.prompt_tokens_source = "--prompt-tokens";
  return workload;
}

// By hand: 2 x 777 x 1,417,674,752 weights + 2 x 131,072,000 for the head + attention
// 4 x 8 x 32 x 128 x 777 x 778 / 2.
inline constexpr double kPrefillFlops =
    2.0 * 777 * 1'417'674'752 + 2.0 * 131'072'000 + 4.0 * 8 * 32 * 128 * 777 * 778 / 2;
// 24 times (1,548,816,384 weights without the embedding, plus one row of it: 4,096) x 2 bytes, and
// (778 + ... + 801) tokens of the cache at 32,768 bytes. The 1,548,816,384 are the layers, their
// norms (65,536), the final norm (4,096) and the head.
inline constexpr double kDecodeBytes =
    24 * 2.0 * (1'417'674'752 + 65'536 + 4'096 + 131'072'000 + 4'096) +
    32'768.0 * (24 * 778 + 23 * 24 / 2);

}  // namespace llmprof::analysis
