#include "analysis/mfu/figures.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

namespace llmprof::analysis {
namespace {

using profile::FindingValues;
using profile::make_reason;
using profile::ReasonKind;

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

// `passes` of one instance read the weights once each.
bool may_stay_in_cache(const llm::PassCost& cost, double passes) {
  double weights = 0;
  for (const llm::CostPart& part : cost.parts) weights += part.weight_bytes;
  return weights / passes < kMayStayInCache;
}

// The figure, and the inputs to check.
FindingValues values_of(const Stages& stages, const llm::ModelSpec& model, const Utilization& use,
                        const Impossible& wrong, const DeviceAsked& device) {
  const Stage& stage = stages.stages[wrong.stage->stage];
  const Workload& workload = use.workload;
  FindingValues values;
  values.add_text("figure", wrong.figure)
      .add_text("stage", stage.name)
      .add_text("time", wrong.time)
      .add("share", profile::Share{wrong.value});
  if (device.captured && !device.captured->empty()) {
    values.add_text("gpu", device.wanted).add_text("captured_gpu", *device.captured);
  }
  if (is_prefill(stage) && workload.prompt_tokens) {
    add_count("prompt_tokens", *workload.prompt_tokens, values);
  }
  if (workload.batch && workload.batch->value > 1) add_count("batch", *workload.batch, values);
  values.add_text("weights_dtype", model.weights.name)
      .add_text("kv_cache_dtype", model.kv_cache.name)
      .add_number("tp", workload.parallel.tp)
      .add_number("pp", workload.parallel.pp)
      .add_number("ep", workload.parallel.ep);
  const double passes = mean_steps(stages, wrong.stage->stage).value_or(1);
  const bool of_flops = wrong.figure == "MFU";
  values.add_flag("weights_may_be_cached",
                  !of_flops && may_stay_in_cache(wrong.stage->cost, passes));
  return values;
}

void take_back(StageUtilization& stage) {
  stage.mfu_wall.reset();
  stage.mfu_busy.reset();
  stage.mbu_wall.reset();
  stage.mbu_busy.reset();
  stage.floor.reset();
  stage.memory_bound = false;
}

// How far above a measured peak a figure may stand.
constexpr double kMeasuredSlack = 1.1;

// The figure that cannot be, and its time; none where both can be. Takes both back.
struct AboveMeasured {
  std::string_view time;
  double value = 0;

  [[nodiscard]] FindingValues values() const {
    return FindingValues().add_text("time", time).add("share", profile::Share{value});
  }
};

std::optional<AboveMeasured> above_measured(std::optional<double>& wall,
                                            std::optional<double>& busy) {
  const bool on_wall = wall && *wall > kMeasuredSlack;
  const bool on_busy = busy && *busy > kMeasuredSlack;
  if (!on_wall && !on_busy) return std::nullopt;
  const AboveMeasured above = on_wall ? AboveMeasured{"wall", *wall} : AboveMeasured{"busy", *busy};
  wall.reset();
  busy.reset();
  return above;
}

bool slightly_above(const std::optional<double>& figure) { return figure && *figure > 1; }

}  // namespace

void refuse_above_measured(const Stages& stages, Utilization& use) {
  for (StageUtilization& stage : use.stages) {
    if (stage.recorded) {
      StageUtilization::Recorded& own = *stage.recorded;
      above_measured(own.mfu_wall, own.mfu_busy);
      above_measured(own.mbu_wall, own.mbu_busy);
    }
    const auto of_flops = above_measured(stage.mfu_wall, stage.mfu_busy);
    const auto of_bytes = above_measured(stage.mbu_wall, stage.mbu_busy);
    if (of_flops) {
      stage.why_not.push_back(make_reason(ReasonKind::above_measured_peak, of_flops->values()));
    }
    if (of_bytes) {
      stage.why_not.push_back(
          make_reason(ReasonKind::above_measured_bandwidth,
                      of_bytes->values().add_text("stage", stages.stages[stage.stage].name)));
    }
    if (of_flops || of_bytes) {
      stage.floor.reset();
      stage.memory_bound = false;
    } else if (slightly_above(stage.mfu_busy) || slightly_above(stage.mbu_busy)) {
      stage.why_not.push_back(make_reason(ReasonKind::slightly_above_measured));
    }
  }
}

void refuse_impossible(const Stages& stages, const llm::ModelSpec& model, const DeviceAsked& device,
                       Utilization& use) {
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
    const bool had_figures = stage.mfu_wall || stage.mbu_wall || stage.floor;
    take_back(stage);
    if (!own[i].empty()) {
      std::move(own[i].begin(), own[i].end(), std::back_inserter(stage.why_not));
    } else if (had_figures) {
      stage.why_not.push_back(of_others);
    }
  }
}

}  // namespace llmprof::analysis
