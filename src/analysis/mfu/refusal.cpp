#include "analysis/mfu/refusal.h"

#include <fmt/format.h>

#include <vector>

#include "analysis/mfu/workload_tokens.h"

namespace llmprof::analysis {
namespace {

constexpr double kPercent = 100;
// Weights that a pass reads, below which the L2 caches of large GPUs may hold them.
constexpr double kMayStayInCache = 100e6;

// A figure above 1: of a pair that on wall time where it is wrong, too.
struct Impossible {
  const StageUtilization* stage = nullptr;
  std::string_view figure;  // "MFU"
  std::string_view time;    // "wall"
  double value = 0;
};

void judge(const StageUtilization& stage, std::string_view figure,
           const std::optional<double>& wall, const std::optional<double>& busy,
           std::vector<Impossible>& found) {
  if (wall && *wall > 1) {
    found.push_back({&stage, figure, "wall", *wall});
  } else if (busy && *busy > 1) {
    found.push_back({&stage, figure, "busy", *busy});
  }
}

std::vector<Impossible> impossible_figures(const Utilization& use) {
  std::vector<Impossible> found;
  for (const StageUtilization& stage : use.stages) {
    judge(stage, "MFU", stage.mfu_wall, stage.mfu_busy, found);
    judge(stage, "MBU", stage.mbu_wall, stage.mbu_busy, found);
  }
  return found;
}

std::string gpu_words(const std::string& wanted, const std::string& captured) {
  if (captured.empty()) return {};
  return fmt::format("--gpu {} (the capture says {})", wanted, captured);
}

std::string prompt_words(const Workload& workload) {
  if (!workload.prompt_tokens) return {};
  return fmt::format("{} prompt tokens ({})", workload.prompt_tokens->value,
                     workload.prompt_tokens->source);
}

std::string batch_words(const Workload& workload) {
  if (!workload.batch || workload.batch->value <= 1) return {};
  return fmt::format("batch {} ({})", workload.batch->value, workload.batch->source);
}

std::string spread_words(const llm::Parallelism& parallel) {
  return fmt::format("--tp {}, --pp {}, --ep {}", parallel.tp, parallel.pp, parallel.ep);
}

// `passes` of one instance read the weights once each.
std::string cache_words(const llm::PassCost& cost, double passes) {
  double weights = 0;
  for (const llm::CostPart& part : cost.parts) weights += part.weight_bytes;
  return weights / passes < kMayStayInCache ? "whether the weights stay in the GPU's cache" : "";
}

std::string listed(std::vector<std::string> items) {
  std::erase(items, "");
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string words_of(const Stages& stages, const llm::ModelSpec& model, const Utilization& use,
                     const Impossible& wrong, const std::string& gpu) {
  const bool of_flops = wrong.figure == "MFU";
  const bool prompt_counts = is_prefill(stages.stages[wrong.stage->stage]);
  const std::string dtype =
      fmt::format("its dtype ({}; KV cache {})", model.weights.name, model.kv_cache.name);
  const double passes = mean_steps(stages, wrong.stage->stage).value_or(1);
  const std::string missing = wrong.time == "busy" ? "whether the capture misses kernels" : "";
  return fmt::format(
      "{} of {} on {} time would be {:.0f} %, which is impossible: check {}", wrong.figure,
      stages.stages[wrong.stage->stage].name, wrong.time, wrong.value * kPercent,
      listed({gpu, prompt_counts ? prompt_words(use.workload) : "", batch_words(use.workload),
              "the model (--model)", dtype, spread_words(use.workload.parallel),
              of_flops ? "" : cache_words(wrong.stage->cost, passes), missing}));
}

void take_back(StageUtilization& stage) {
  stage.mfu_wall.reset();
  stage.mfu_busy.reset();
  stage.mbu_wall.reset();
  stage.mbu_busy.reset();
  stage.floor.reset();
  stage.memory_bound = false;
}

void explain(StageUtilization& stage, std::string_view why) {
  if (!stage.why_not.empty()) stage.why_not += "; ";
  stage.why_not += why;
}

// How far above a measured peak a figure may stand.
constexpr double kMeasuredSlack = 1.1;

// "MBU on busy time would be 240 %"; empty where the figures can be.
std::string above_measured(std::string_view figure, std::optional<double>& wall,
                           std::optional<double>& busy) {
  const bool on_wall = wall && *wall > kMeasuredSlack;
  const bool on_busy = busy && *busy > kMeasuredSlack;
  if (!on_wall && !on_busy) return {};
  std::string words = fmt::format("{} on {} time would be {:.0f} %", figure,
                                  on_wall ? "wall" : "busy", (on_wall ? *wall : *busy) * kPercent);
  wall.reset();
  busy.reset();
  return words;
}

bool slightly_above(const std::optional<double>& figure) { return figure && *figure > 1; }

}  // namespace

void refuse_above_measured(const Stages& stages, Utilization& use) {
  for (StageUtilization& stage : use.stages) {
    if (stage.recorded) {
      StageUtilization::Recorded& own = *stage.recorded;
      above_measured("MFU", own.mfu_wall, own.mfu_busy);
      above_measured("MBU", own.mbu_wall, own.mbu_busy);
    }
    const std::string of_flops = above_measured("MFU", stage.mfu_wall, stage.mfu_busy);
    const std::string of_bytes = above_measured("MBU", stage.mbu_wall, stage.mbu_busy);
    if (!of_flops.empty()) {
      explain(stage, fmt::format("{} of the measured peak: check the FLOPs and how the peak was "
                                 "measured (metrics.json, device)",
                                 of_flops));
    }
    if (!of_bytes.empty()) {
      explain(stage,
              fmt::format("{} of the memory bandwidth: {} bytes come from the CPU's caches; "
                          "measure memory with weights of at least four times its last-level cache",
                          of_bytes, stages.stages[stage.stage].name + "'s"));
    }
    if (!of_flops.empty() || !of_bytes.empty()) {
      stage.floor.reset();
      stage.memory_bound = false;
    } else if (slightly_above(stage.mfu_busy) || slightly_above(stage.mbu_busy)) {
      explain(stage, "a figure is slightly above 100 %, because the peaks are measurements, too");
    }
  }
}

void refuse_impossible(const Stages& stages, const llm::ModelSpec& model,
                       const std::string& gpu_wanted, const std::string& gpu_captured,
                       Utilization& use) {
  const std::vector<Impossible> found = impossible_figures(use);
  if (found.empty()) return;
  const std::string gpu = gpu_words(gpu_wanted, gpu_captured);
  std::vector<std::string> own(use.stages.size());
  for (const Impossible& wrong : found) {
    std::string& words = own[static_cast<size_t>(wrong.stage - use.stages.data())];
    if (!words.empty()) words += "; ";
    words += words_of(stages, model, use, wrong, gpu);
  }
  const std::string of_others =
      "no figure, because it depends on the same inputs as an impossible one: " +
      words_of(stages, model, use, found.front(), gpu);
  for (size_t i = 0; i < use.stages.size(); ++i) {
    StageUtilization& stage = use.stages[i];
    const bool had_figures = stage.mfu_wall || stage.mbu_wall || stage.floor;
    take_back(stage);
    if (!own[i].empty()) {
      explain(stage, own[i]);
    } else if (had_figures) {
      explain(stage, of_others);
    }
  }
}

}  // namespace llmprof::analysis
