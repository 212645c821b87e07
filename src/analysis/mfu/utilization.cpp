#include "analysis/mfu/utilization.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "analysis/mfu/figures.h"
#include "analysis/statistics/statistics.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

// The highest peak that the model's products could run at, so that MFU is never overstated.
std::optional<Peak> peak_of(const llm::GpuSpec& gpu, const llm::ModelSpec& model) {
  std::optional<Peak> best;
  for (const llm::NumberFormat& format : {model.weights, model.experts.value_or(model.weights)}) {
    const auto peak = gpu.peak_for(format.name);
    if (peak && (!best || *peak > best->flops)) {
      best = Peak{*peak, gpu.peak_name(format.name)};
    }
  }
  return best;
}

// The largest number of GPUs in one process that a stage's instances run on.
size_t gpus_of_one_process(const Stages& stages, uint32_t stage) {
  std::set<std::pair<size_t, size_t>> seen;
  size_t most = 0;
  for (const StageInstance& instance : stages.instances) {
    if (instance.stage != stage || !instance.device.valid() || !instance.process.valid()) continue;
    seen.emplace(instance.process.index(), instance.device.index());
  }
  for (const auto& [process, device] : seen) {
    const auto same =
        std::ranges::count_if(seen, [&](const auto& other) { return other.first == process; });
    most = std::max(most, static_cast<size_t>(same));
  }
  return most;
}

// Work divided by what the peak could do in this time; none if there is no time.
std::optional<profile::Share> share_of_peak(double work, double nanoseconds, double peak) {
  if (nanoseconds <= 0 || peak <= 0) return std::nullopt;
  return profile::Share{work / (nanoseconds / kNanosecondsPerSecond * peak)};
}

// `traced` is the share of the work done in the recorded busy time.
profile::Ratios ratios(const Stage& stage, double work, double peak, double traced = 1) {
  return {share_of_peak(work, stage.wall.mean, peak),
          share_of_peak(work * traced, stage.busy.mean, peak)};
}

// MFU, MBU and the floor of one stage, from its cost.
void measure(const Stage& stage, const std::optional<Peak>& peak, const llm::GpuSpec& gpu,
             StageUtilization& result) {
  const double flops = result.cost.flops();
  const double bytes = result.cost.bytes();
  const double traced = result.traced_share.value_or(1);
  result.peak_bandwidth = gpu.memory_bandwidth;
  if (peak) {
    result.peak_flops = peak->flops;
    result.peak_name = peak->name;
    result.mfu = ratios(stage, flops, peak->flops, traced);
  }
  if (result.whole_cost) {
    result.mbu = ratios(stage, bytes, gpu.memory_bandwidth, traced);
  } else {
    result.why_not.push_back(make_reason(ReasonKind::contexts_unknown));
  }
  if (!result.traced_share) {
    result.mfu.gpu_busy.reset();
    result.mbu.gpu_busy.reset();
    result.why_not.push_back(make_reason(ReasonKind::busy_time_untraced));
  }
  const double moving = bytes / result.peak_bandwidth * kNanosecondsPerSecond;
  const double computing =
      result.peak_flops > 0 ? flops / result.peak_flops * kNanosecondsPerSecond : 0;
  result.memory_bound = moving > computing;
  result.floor = static_cast<Nanoseconds>(std::max(moving, computing));
}

profile::RecordedWork recorded_figures(const Stage& stage, const llm::PassCost& cost,
                                       const llm::GpuSpec& gpu,
                                       const llm::PassCost* of_model = nullptr) {
  const double flops = cost.flops();
  const double bytes = cost.bytes();
  return {{flops},
          {bytes},
          of_model == nullptr ? std::nullopt : share(flops, of_model->flops()),
          ratios(stage, flops, gpu.fp32.value_or(0)),
          ratios(stage, bytes, gpu.memory_bandwidth)};
}

profile::Reason missing_device(const RequestedDevice& device) {
  if (device.kind == trace::DeviceKind::cpu) return make_reason(ReasonKind::cpu_peaks_unknown);
  if (device.wanted.empty()) return make_reason(ReasonKind::gpu_not_named);
  return make_reason(ReasonKind::gpu_unknown, FindingValues().add("gpu", device.wanted));
}

profile::Reason several_gpus(size_t gpus) {
  return make_reason(ReasonKind::several_gpus, FindingValues().add("gpus", gpus));
}

profile::Reason no_peak(const llm::ModelSpec& model, const llm::GpuSpec& gpu) {
  return make_reason(ReasonKind::no_peak_of_format,
                     FindingValues().add("format", model.weights.name).add("gpu", gpu.name));
}

bool is_spread(const profile::Workload& workload) {
  return workload.tp > 1 || workload.pp > 1 || workload.ep > 1;
}

// What one stage needs and achieves.
class StageFigures {
 public:
  StageFigures(const Stages& stages, const UseOfPeaks& use, const RequestedDevice& device)
      : stages_(stages),
        model_(use.model ? &*use.model : nullptr),
        gpu_(use.gpu ? &*use.gpu : nullptr),
        workload_(use.workload),
        device_(device) {}

  // From the model; `recorded` is reported with it.
  [[nodiscard]] StageUtilization of_model(uint32_t index,
                                          const std::optional<StageUtilization>& recorded) const {
    const Stage& stage = stages_.stages[index];
    StageUtilization result = stage_cost(stages_, index, *model_, workload_);
    add_tracing(result);
    if (!result.why_not.empty()) return result;
    if (stage.wall.count == 0) {
      result.why_not = {make_reason(ReasonKind::all_warmup)};
    } else if (gpu_ == nullptr) {
      result.why_not = {missing_device(device_)};
    } else if (const size_t gpus = gpus_of_one_process(stages_, index);
               gpus > 1 && !is_spread(workload_)) {
      result.why_not = {several_gpus(gpus)};
    } else {
      const auto peak = peak_of(*gpu_, *model_);
      if (!peak) result.why_not.push_back(no_peak(*model_, *gpu_));
      measure(stage, peak, *gpu_, result);
      if (recorded) result.recorded = recorded_figures(stage, recorded->cost, *gpu_, &result.cost);
    }
    return result;
  }

  // From what the operators recorded.
  [[nodiscard]] StageUtilization of_operators(uint32_t index, StageUtilization result) const {
    const Stage& stage = stages_.stages[index];
    result.stage = index;
    result.from_operators = true;
    if (stage.wall.count == 0) {
      result.why_not = {make_reason(ReasonKind::all_warmup)};
    } else if (gpu_ == nullptr) {
      result.why_not = {missing_device(device_)};
    } else {
      const Peak peak{gpu_->fp32.value_or(0), gpu_->peak_name("f32")};
      measure(stage, peak, *gpu_, result);
      result.recorded = recorded_figures(stage, result.cost, *gpu_);
    }
    return result;
  }

 private:
  void add_tracing(StageUtilization& result) const {
    const profile::StageTracing tracing = stage_tracing(stages_, result.stage);
    result.traced_share.reset();
    if (tracing.share_of_steps) result.traced_share = tracing.share_of_steps->value;
    if (result.traced_share.value_or(1) == 1 || result.basis.empty()) return;
    FindingValues values;
    values.add("steps_traced", tracing.steps_traced).add("steps", tracing.steps_all);
    result.basis.push_back(make_reason(ReasonKind::traced_steps_on_busy_time, values));
  }

  const Stages& stages_;
  const llm::ModelSpec* model_;
  const llm::GpuSpec* gpu_;
  const profile::Workload& workload_;
  const RequestedDevice& device_;
};

struct RecordedSum {
  std::array<double, profile::kClassParts> flops{};
  std::array<double, profile::kClassParts> bytes{};
  uint64_t operators = 0;
  uint64_t with_figures = 0;
  uint64_t instances = 0;
};

StageUtilization mean_of(const RecordedSum& sum) {
  StageUtilization work;
  const auto instances = static_cast<double>(sum.instances);
  for (size_t kind = 0; kind < profile::kClassParts; ++kind) {
    if (sum.flops[kind] <= 0 && sum.bytes[kind] <= 0) continue;
    const auto kernel_class = static_cast<KernelClass>(kind);
    llm::CostLine part;
    part.name = to_string(kernel_class);
    part.flops = sum.flops[kind] / instances;
    const bool attends = kernel_class == KernelClass::attention;
    part.kind = attends                    ? llm::CostKind::attention
                : is_product(kernel_class) ? llm::CostKind::products
                                           : llm::CostKind::other;
    (attends ? part.kv_bytes : part.weight_bytes) = sum.bytes[kind] / instances;
    work.cost.parts.push_back(std::move(part));
  }
  profile::FindingValues values;
  values.add("operators_with_work", sum.with_figures)
      .add("operators", sum.operators)
      .add("instances", instances);
  work.basis = {make_reason(profile::ReasonKind::recorded_operators, values)};
  return work;
}

// Why no stage has any figure; empty if some may have one.
profile::Reasons why_nothing(const Stages& stages, const UseOfPeaks& use,
                             const RequestedDevice& device, bool any_recorded) {
  if (stages.stages.empty()) {
    profile::Reasons why = {make_reason(ReasonKind::no_stages)};
    why.insert(why.end(), stages.reason.begin(), stages.reason.end());
    return why;
  }
  if (!use.model && !any_recorded) return {make_reason(ReasonKind::no_model)};
  if (!use.gpu) return {missing_device(device)};
  return {};
}

}  // namespace

RecordedStages recorded_work(const trace::Trace& trace, const Stages& stages,
                             const DescribedNames& names) {
  RecordedStages result(stages.stages.size());
  const trace::KernelTable& kernels = trace.kernels;
  if (kernels.flops.empty() || kernels.bytes.empty()) return result;
  std::vector<RecordedSum> sums(stages.stages.size());
  for (const StageInstance& instance : stages.instances) {
    if (!instance.warmup) ++sums[instance.stage].instances;
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    const InstanceId owner = stages.owners.kernel_instance[i];
    if (!owner.valid() || stages.instances[owner.index()].warmup) continue;
    RecordedSum& sum = sums[stages.instances[owner.index()].stage];
    const auto kind = static_cast<size_t>(names[kernels.name[i]].kernel_class);
    ++sum.operators;
    if (kernels.flops[i] > 0 || kernels.bytes[i] > 0) ++sum.with_figures;
    sum.flops[kind] += static_cast<double>(kernels.flops[i]);
    sum.bytes[kind] += static_cast<double>(kernels.bytes[i]);
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].with_figures > 0) result[i] = mean_of(sums[i]);
  }
  return result;
}

UseOfPeaks utilization(const Stages& stages, const std::optional<llm::ModelSpec>& model,
                       const std::optional<llm::GpuSpec>& gpu, const profile::Workload& workload,
                       const RequestedDevice& device, const RecordedStages& recorded) {
  UseOfPeaks result;
  result.model = model;
  result.gpu = gpu;
  result.device = device.kind;
  result.workload = complete_workload(stages, workload);
  const bool any_recorded =
      std::ranges::any_of(recorded, [](const auto& work) { return work.has_value(); });
  result.why_not = why_nothing(stages, result, device, any_recorded);
  const StageFigures figures(stages, result, device);
  for (uint32_t i = 0; i < stages.stages.size(); ++i) {
    const auto own = i < recorded.size() ? recorded[i] : std::optional<StageUtilization>();
    if (model) {
      result.stages.push_back(figures.of_model(i, own));
    } else if (own) {
      result.stages.push_back(figures.of_operators(i, *own));
    } else {
      StageUtilization none;
      none.stage = i;
      none.why_not = any_recorded ? profile::Reasons{make_reason(ReasonKind::work_not_recorded)}
                                  : result.why_not;
      result.stages.push_back(std::move(none));
    }
  }
  if (gpu && gpu->is_measured()) {
    refuse_above_measured(stages, result);
  } else if (model) {
    refuse_impossible(stages, *model, device, result);
  }
  if (model) {
    check_inputs(stages, *model, result.workload, device, result.warnings);
  }
  warn_of_recorded(stages, result);
  return result;
}

}  // namespace llmprof::analysis
