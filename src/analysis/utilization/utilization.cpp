#include "analysis/utilization/utilization.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/utilization/input_warnings.h"
#include "analysis/utilization/refusal.h"
#include "analysis/utilization/stage_cost.h"
#include "analysis/utilization/workload_tokens.h"

namespace llmprof {
namespace {

constexpr double kNsPerSecond = 1e9;

struct Peak {
  double flops = 0;
  std::string name;
};

std::string_view peak_name(std::string_view format, const GpuSpec& gpu) {
  if (format == "f32") return "fp32, CUDA cores";
  if (format == "fp8" && gpu.tensor_fp8) return "fp8 dense";
  if (format == "nvfp4" && gpu.tensor_fp4) return "fp4 dense";
  if (format == "int8" && gpu.tensor_int8) return "int8 dense";
  return format == "f16" || gpu.fp16_only ? "fp16 dense" : "bf16 dense";
}

// The highest of the peaks that the model's products could run at, so that MFU is never flattered.
std::optional<Peak> peak_of(const GpuSpec& gpu, const ModelSpec& model) {
  std::optional<Peak> best;
  for (const NumberFormat& format : {model.weights, model.experts.value_or(model.weights)}) {
    const auto peak = gpu.peak_for(format.name);
    if (peak && (!best || *peak > best->flops)) {
      best = Peak{*peak, std::string(peak_name(format.name, gpu))};
    }
  }
  return best;
}

// The GPUs of one process that a stage's instances run on, at the most.
size_t gpus_of_one_process(const Stages& stages, uint32_t stage) {
  std::set<std::pair<size_t, size_t>> seen;
  size_t most = 0;
  for (const StageInstance& instance : stages.instances) {
    if (instance.stage != stage || !instance.device.valid() || !instance.process.valid()) continue;
    seen.emplace(instance.process.index(), instance.device.index());
  }
  for (const auto& [process, device] : seen) {
    const auto same = std::count_if(seen.begin(), seen.end(),
                                    [&](const auto& other) { return other.first == process; });
    most = std::max(most, static_cast<size_t>(same));
  }
  return most;
}

void explain(StageUtilization& stage, std::string_view why) {
  if (!stage.why_not.empty()) stage.why_not += "; ";
  stage.why_not += why;
}

// Work over what the peak could do in that time; none for no time.
std::optional<double> ratio(double work, double nanoseconds, double peak) {
  if (nanoseconds <= 0 || peak <= 0) return std::nullopt;
  return work / (nanoseconds / kNsPerSecond * peak);
}

class StageFigures {
 public:
  StageFigures(const Stages& stages, const ModelSpec& model, const GpuSpec* gpu,
               const Workload& workload, std::string no_gpu)
      : stages_(stages),
        model_(model),
        gpu_(gpu),
        workload_(workload),
        no_gpu_(std::move(no_gpu)) {}

  [[nodiscard]] StageUtilization of(uint32_t index) const {
    const Stage& stage = stages_.stages[index];
    StageUtilization result;
    result.stage = index;
    StageCost cost = stage_cost(stages_, index, model_, workload_);
    result.cost = std::move(cost.cost);
    result.basis = std::move(cost.basis);
    if (!cost.why_not.empty()) {
      result.why_not = std::move(cost.why_not);
    } else if (stage.wall.count == 0) {
      result.why_not = "every instance is a warm-up";
    } else if (gpu_ == nullptr) {
      result.why_not = no_gpu_;
    } else if (const size_t gpus = gpus_of_one_process(stages_, index); gpus > 1 && !spread()) {
      result.why_not = fmt::format(
          "one process runs it on {} GPUs: give --tp, --pp or --ep, without which the figures "
          "would "
          "be up to {} times too high",
          gpus, gpus);
    } else {
      measure(stage, cost.whole, result);
    }
    return result;
  }

 private:
  [[nodiscard]] bool spread() const {
    const Parallelism& parallel = workload_.parallel;
    return parallel.tp > 1 || parallel.pp > 1 || parallel.ep > 1;
  }

  void measure(const Stage& stage, bool whole, StageUtilization& result) const {
    const double flops = result.cost.flops();
    const double bytes = result.cost.bytes();
    const auto peak = peak_of(*gpu_, model_);
    result.peak_bandwidth = gpu_->memory_bandwidth;
    if (peak) {
      result.peak_flops = peak->flops;
      result.peak_name = peak->name;
      result.mfu_wall = ratio(flops, stage.wall.mean, peak->flops);
      result.mfu_busy = ratio(flops, stage.busy.mean, peak->flops);
    } else {
      explain(result, fmt::format("conf/gpus.yaml has no peak for {} on {}: no MFU",
                                  model_.weights.name, gpu_->name));
    }
    if (whole) {
      result.mbu_wall = ratio(bytes, stage.wall.mean, gpu_->memory_bandwidth);
      result.mbu_busy = ratio(bytes, stage.busy.mean, gpu_->memory_bandwidth);
    } else {
      explain(result, "MBU needs the context of every sequence, which the capture does not tell");
    }
    find_floor(flops, bytes, result);
  }

  static void find_floor(double flops, double bytes, StageUtilization& result) {
    const double moving = bytes / result.peak_bandwidth * kNsPerSecond;
    const double computing = result.peak_flops > 0 ? flops / result.peak_flops * kNsPerSecond : 0;
    result.memory_bound = moving > computing;
    result.floor = static_cast<Nanoseconds>(std::max(moving, computing));
  }

  const Stages& stages_;
  const ModelSpec& model_;
  const GpuSpec* gpu_;
  const Workload& workload_;
  std::string no_gpu_;
};

std::string missing_gpu(const std::string& wanted) {
  if (wanted.empty()) return "the capture does not name its GPU: give --gpu";
  return fmt::format(
      "the GPU '{}' is not in conf/gpus.yaml, or is one of several variants there: name one with "
      "--gpu, or add it to a gpus.yaml in a folder given with --config-dir",
      wanted);
}

}  // namespace

Utilization utilization(const Stages& stages, const std::optional<ModelSpec>& model,
                        const std::optional<GpuSpec>& gpu, const Workload& workload,
                        const std::string& gpu_wanted, const std::string& gpu_captured) {
  Utilization result;
  result.model = model;
  result.gpu = gpu;
  result.workload = complete_workload(stages, workload);
  if (stages.stages.empty()) {
    result.why_not = "no stages were found";
    if (!stages.reason.empty()) result.why_not += ": " + stages.reason;
  } else if (!model) {
    result.why_not =
        "no model was named: --model takes a Hugging Face config.json or a preset such as "
        "llm/llama3_8b";
  } else if (!gpu) {
    result.why_not = missing_gpu(gpu_wanted);
  }
  for (uint32_t i = 0; i < stages.stages.size(); ++i) {
    if (model) {
      result.stages.push_back(StageFigures(stages, *model, gpu ? &*gpu : nullptr, result.workload,
                                           missing_gpu(gpu_wanted))
                                  .of(i));
    } else {
      StageUtilization none;
      none.stage = i;
      none.why_not = result.why_not;
      result.stages.push_back(std::move(none));
    }
  }
  if (model) {
    refuse_impossible(stages, *model, gpu_wanted, gpu_captured, result);
    result.warnings = input_warnings(stages, *model, result.workload, gpu_wanted, gpu_captured);
  }
  return result;
}

}  // namespace llmprof
