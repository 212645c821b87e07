#include "analysis/mfu/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "base/text.h"

namespace llmprof::analysis {
namespace {

// The L2 caches of large GPUs may hold the weights of a pass if they are smaller than this (bytes).
constexpr double kMayStayInCache = 100e6;

// A figure that is too high, and the time it is based on.
struct TooHigh {
  std::string_view time;
  double value = 0;

  [[nodiscard]] FindingValues values() const {
    return FindingValues().add("time", time).add("share", profile::Share{value});
  }
};

// The figure on wall time if it is above `most`, otherwise the one on busy time.
std::optional<TooHigh> above(const profile::Ratios& ratios, double most) {
  if (ratios.wall && ratios.wall->value > most) return TooHigh{"wall", ratios.wall->value};
  if (ratios.gpu_busy && ratios.gpu_busy->value > most) {
    return TooHigh{"busy", ratios.gpu_busy->value};
  }
  return std::nullopt;
}

// A figure above 1.
struct Impossible {
  const StageUtilization* stage = nullptr;
  bool of_flops = false;  // MFU; otherwise MBU
  TooHigh by;
};

std::vector<Impossible> impossible_figures(const UseOfPeaks& use) {
  std::vector<Impossible> found;
  for (const StageUtilization& stage : use.stages) {
    if (const auto wrong = above(stage.mfu, 1)) found.push_back({&stage, true, *wrong});
    if (const auto wrong = above(stage.mbu, 1)) found.push_back({&stage, false, *wrong});
  }
  return found;
}

// `passes` of one instance each read the weights once.
bool may_stay_in_cache(const llm::PassCost& cost, double passes) {
  double weights = 0;
  for (const llm::CostLine& part : cost.parts) weights += part.weight_bytes;
  return weights / passes < kMayStayInCache;
}

// The figure, and the inputs to check.
FindingValues values_of(const Stages& stages, const llm::ModelSpec& model, const UseOfPeaks& use,
                        const Impossible& wrong, const RequestedDevice& device) {
  const Stage& stage = stages.stages[wrong.stage->stage];
  const profile::Workload& workload = use.workload;
  FindingValues values;
  values.add("figure", wrong.of_flops ? "MFU" : "MBU")
      .add("stage", stage.name)
      .add_all(wrong.by.values());
  if (device.captured && !device.captured->empty()) {
    values.add("gpu", device.wanted).add("captured_gpu", *device.captured);
  }
  if (is_prefill(stage) && workload.prompt_tokens) {
    values.add("prompt_tokens", *workload.prompt_tokens, workload.prompt_tokens_source);
  }
  if (workload.batch.value_or(1) > 1) values.add("batch", *workload.batch, workload.batch_source);
  values.add("weights_dtype", model.weights.name)
      .add("kv_cache_dtype", model.kv_cache.name)
      .add("tp", workload.tp)
      .add("pp", workload.pp)
      .add("ep", workload.ep);
  const double passes = mean_steps(stages, wrong.stage->stage).value_or(1);
  values.add("weights_may_be_cached",
             !wrong.of_flops && may_stay_in_cache(wrong.stage->cost, passes));
  return values;
}

void take_back_floor(StageUtilization& stage) {
  stage.floor.reset();
  stage.memory_bound = false;
}

// How far a figure may exceed a measured peak.
constexpr double kMeasuredSlack = 1.1;

// The impossible figure, or none. If there is one, removes both.
std::optional<TooHigh> take_back_above_measured(profile::Ratios& ratios) {
  const auto found = above(ratios, kMeasuredSlack);
  if (found) ratios = {};
  return found;
}

bool slightly_above(const std::optional<profile::Share>& figure) {
  return figure && figure->value > 1;
}

size_t gpus_in(const Stages& stages) {
  std::set<uint32_t> seen;
  for (const StageInstance& instance : stages.instances) {
    if (instance.device.valid()) seen.insert(instance.device.value);
  }
  return seen.size();
}

// The other GPUs of a job are in the captures of its other ranks.
void check_spread(const Stages& stages, const profile::Workload& workload, uint32_t ranks,
                  Diagnostics& warnings) {
  const size_t gpus = gpus_in(stages);
  std::string larger;
  const auto check = [&](std::string_view name, uint64_t said) {
    if (gpus == 0 || said <= std::max<size_t>(gpus, ranks)) return;
    larger += fmt::format("{}{} {}", larger.empty() ? "" : ", ", name, said);
  };
  check("tp", workload.tp);
  check("pp", workload.pp);
  check("ep", workload.ep);
  if (larger.empty()) return;
  warnings.warn(
      "spread_over_more_gpus",
      fmt::format("{}, but the capture shows {}: utilization is that of one GPU's share of the "
                  "model; omit the option unless other ranks were not captured",
                  larger, counted(gpus, "GPU")));
}

void check_heads(const llm::ModelSpec& model, uint64_t tp, Diagnostics& warnings) {
  const auto check = [&](std::string_view what, uint32_t heads) {
    if (heads == 0 || tp <= 1 || heads % tp == 0) return;
    warnings.warn("heads_not_divisible",
                  fmt::format("tp {} does not divide the model's {} {}: some GPUs hold more "
                              "of them than others, or copies; the share is an average",
                              tp, heads, what));
  };
  check("attention heads", model.heads);
  if (model.kv_heads != model.heads) check("KV heads", model.kv_heads);
}

// Prefill may produce the first new token.
void check_new_tokens(const Stages& stages, const profile::Workload& workload,
                      Diagnostics& warnings) {
  if (stages.serving || !workload.new_tokens) return;
  for (uint32_t i = 0; i < stages.stages.size(); ++i) {
    const auto steps = mean_steps(stages, i);
    if (!is_decode(stages.stages[i]) || !steps) continue;
    if (std::abs(static_cast<double>(*workload.new_tokens) - *steps) <= 1) continue;
    warnings.warn("new_tokens_contradict_steps",
                  fmt::format("{} says {} new {}, but a decode has {:.4g} {}; the steps are used",
                              *workload.new_tokens_source, *workload.new_tokens,
                              plural_of(*workload.new_tokens, "token"), *steps,
                              plural_of(*steps == 1 ? 1 : 2, "step")));
  }
}

}  // namespace

void refuse_above_measured(const Stages& stages, UseOfPeaks& use) {
  for (StageUtilization& stage : use.stages) {
    if (stage.recorded) {
      take_back_above_measured(stage.recorded->mfu);
      take_back_above_measured(stage.recorded->mbu);
    }
    const auto of_flops = take_back_above_measured(stage.mfu);
    const auto of_bytes = take_back_above_measured(stage.mbu);
    if (of_flops) {
      stage.why_not.push_back(make_reason(ReasonKind::above_measured_peak, of_flops->values()));
    }
    if (of_bytes) {
      stage.why_not.push_back(
          make_reason(ReasonKind::above_measured_bandwidth,
                      of_bytes->values().add("stage", stages.stages[stage.stage].name)));
    }
    if (of_flops || of_bytes) {
      take_back_floor(stage);
    } else if (slightly_above(stage.mfu.gpu_busy) || slightly_above(stage.mbu.gpu_busy)) {
      stage.why_not.push_back(make_reason(ReasonKind::slightly_above_measured));
    }
  }
}

void refuse_impossible(const Stages& stages, const llm::ModelSpec& model,
                       const RequestedDevice& device, UseOfPeaks& use) {
  const std::vector<Impossible> found = impossible_figures(use);
  if (found.empty()) return;
  std::vector<profile::Reasons> own(use.stages.size());
  for (const Impossible& wrong : found) {
    own[static_cast<size_t>(wrong.stage - use.stages.data())].push_back(
        make_reason(ReasonKind::impossible_figure, values_of(stages, model, use, wrong, device)));
  }
  const profile::Reason of_others =
      make_reason(ReasonKind::depends_on_impossible_figure,
                  values_of(stages, model, use, found.front(), device));
  for (size_t i = 0; i < use.stages.size(); ++i) {
    StageUtilization& stage = use.stages[i];
    const bool had_figures = stage.mfu.wall || stage.mbu.wall || stage.floor;
    stage.mfu = {};
    stage.mbu = {};
    take_back_floor(stage);
    if (!own[i].empty()) {
      std::move(own[i].begin(), own[i].end(), std::back_inserter(stage.why_not));
    } else if (had_figures) {
      stage.why_not.push_back(of_others);
    }
  }
}

void warn_of_recorded(const Stages& stages, UseOfPeaks& use) {
  constexpr double kAgree = 0.05;
  for (const StageUtilization& stage : use.stages) {
    if (stage.from_operators || !stage.recorded || stage.recorded->flops.value <= 0) continue;
    const double model = stage.cost.flops();
    const double times = stage.recorded->flops.value / model;
    if (model <= 0 || std::abs(times - 1) <= kAgree) continue;
    use.warnings.warn(
        "recorded_flops_differ",
        fmt::format("{}: its operators recorded {:.4g} FLOPs per instance, {:.2f} times the {:.4g} "
                    "of the model: check the model, the token counts, and what the program records",
                    stages.stages[stage.stage].name, stage.recorded->flops.value, times, model));
  }
}

void check_inputs(const Stages& stages, const llm::ModelSpec& model,
                  const profile::Workload& workload, const RequestedDevice& device,
                  Diagnostics& warnings) {
  if (device.captured && !device.captured->empty()) {
    warnings.warn(
        "gpu_contradicts_capture",
        fmt::format("--gpu {}, but the capture was made on {}: the peaks are those of --gpu",
                    device.wanted, *device.captured));
  }
  check_spread(stages, workload, device.ranks, warnings);
  check_heads(model, workload.tp, warnings);
  check_new_tokens(stages, workload, warnings);
}

}  // namespace llmprof::analysis
