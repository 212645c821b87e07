#include "compare/comparability/comparability.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "base/units.h"
#include "compare/comparability/loads.h"
#include "profile/machine_load.h"

namespace llmprof::compare {
namespace {

using profile::Profile;
using Text = std::optional<std::string>;

// If parameter counts differ by more, the models are different, not one changed model.
constexpr double kSameModel = 0.25;
// Larger clock differences are mentioned.
constexpr double kSameClock = 0.02;

Text number(const std::optional<uint64_t>& value) {
  if (!value) return std::nullopt;
  return std::to_string(*value);
}

// Joins the different texts of rows; none if no row has one.
template <class Rows, class TextOf>
Text distinct(const Rows& rows, const TextOf& text_of, std::string_view between = " + ") {
  std::set<std::string> found;
  for (const auto& row : rows) {
    if (Text text = text_of(row)) found.insert(std::move(*text));
  }
  if (found.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(found, between));
}

// All different values of a side.
template <class Value>
Text of_side(std::span<const Run> runs, Value value) {
  return distinct(runs, [&](const Run& run) -> Text { return value(run.profile); }, ", ");
}

Text gpu_names(const Profile& profile) {
  std::vector<Text> names;
  names.reserve(profile.context.gpus.size() + profile.context.cpus.size());
  for (const profile::Gpu& gpu : profile.context.gpus) names.push_back(gpu.name);
  for (const profile::Cpu& cpu : profile.context.cpus) names.push_back(cpu.name);
  return distinct(names, std::identity());
}

// Each tool once. Nsight Compute is skipped: it measures kernels in separate runs. So are memory
// snapshots of PyTorch: they have no times.
Text recording(const Profile& profile) {
  return distinct(profile.context.captures, [](const profile::Capture& capture) -> Text {
    using enum profile::CaptureFormat;
    if (capture.format == ncu_csv || capture.format == ncu_json || capture.format == torch_memory) {
      return std::nullopt;
    }
    return capture.tool.value_or(std::string(to_string(capture.format)));
  });
}

Text recording_versions(const Profile& profile) {
  return distinct(profile.context.captures, [](const profile::Capture& capture) -> Text {
    if (!capture.tool || !capture.tool_version) return std::nullopt;
    return fmt::format("{} {}", *capture.tool, *capture.tool_version);
  });
}

template <class Member>
Text of_captures(const Profile& profile, Member member) {
  for (const profile::Capture& capture : profile.context.captures) {
    if (capture.*member) return capture.*member;
  }
  return std::nullopt;
}

Text stage_sources(const Profile& profile) {
  return distinct(profile.stages, [](const profile::Stage& stage) -> Text {
    return std::string(to_string(stage.source));
  });
}

Text stage_names(const Profile& profile) {
  std::multiset<std::string> names;
  for (const profile::Stage& stage : profile.stages) {
    if (stage.instance_count > stage.warmup_count) names.insert(stage.name);
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

Text graphs(const Profile& profile) {
  return profile.totals.hidden_graphs ? "kernels inside CUDA graphs not recorded"
                                      : "all kernels recorded";
}

// By the ledger of GPU memory: "cuda:0 150754820096 bytes".
Text memory_of_gpus(const Profile& profile) {
  if (!profile.memory_ledger) return std::nullopt;
  return distinct(profile.memory_ledger->moments, [](const profile::LedgerMoment& moment) -> Text {
    if (!moment.total) return std::nullopt;
    return fmt::format("{} {:.0f} bytes", moment.device, moment.total->value);
  });
}

// Mean over all stages, weighted by samples.
std::optional<double> mean_clock(std::span<const Run> runs) {
  double sum = 0;
  double count = 0;
  for (const Run& run : runs) {
    for (const profile::Stage& stage : run.profile.stages) {
      if (!stage.measured || !stage.measured->sm_clock) continue;
      const auto samples = static_cast<double>(stage.measured->sm_clock->samples);
      sum += stage.measured->sm_clock->mean.value * samples;
      count += samples;
    }
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

Text throttled(std::span<const Run> runs) {
  double slowed = 0;
  double known = 0;
  for (const Run& run : runs) {
    for (const profile::Step& step : run.profile.steps) {
      if (!step.clocks_lowered) continue;
      known += 1;
      if (*step.clocks_lowered) slowed += 1;
    }
  }
  if (known == 0 || slowed == 0) return std::nullopt;
  constexpr double kPercent = 100;
  return fmt::format("{:.0f} % of the steps", kPercent * slowed / known);
}

// A CPU's peaks, measured in each run; the run's MFU and MBU refer to them.
Text cpu_peaks(const Profile& profile) {
  const auto& cpu = profile.utilization.cpu;
  if (!cpu || !cpu->flops) return std::nullopt;
  return fmt::format("{:.1f} GFLOP/s and {:.1f} GB/s", cpu->flops->value / kGiga,
                     cpu->memory_bandwidth.value / kGiga);
}

// Taken from the most disturbed pass.
Text shared_cpus(std::span<const Run> runs) {
  const profile::RecordingLoad* most = nullptr;
  for (const Run& run : runs) {
    for (const profile::RecordingLoad& pass : run.profile.context.load) {
      if (!profile::cpus_were_short(pass)) continue;
      if (most == nullptr || pass.others > most->others) most = &pass;
    }
  }
  if (most == nullptr) return std::nullopt;
  return fmt::format("{:.1f} of {:g}", most->others, most->cpus);
}

class Aspects {
 public:
  explicit Aspects(const Sides& sides) : sides_(sides) {}

  // A difference counts if both sides have a value.
  template <class Value>
  void add(AspectKind aspect, bool blocking, Value value) {
    add(aspect, blocking, of_side(sides_.base, value), of_side(sides_.now, value));
  }
  void add(AspectKind aspect, bool blocking, Text base, Text now) {
    if (!base || !now || *base == *now) return;
    push(aspect, blocking, std::move(base), std::move(now));
  }
  // Also counts a difference if only one side has a value.
  void push(AspectKind aspect, bool blocking, Text base, Text now) {
    if (!base && !now) return;
    found_.push_back({aspect, std::move(base), std::move(now), blocking, {}});
  }
  void add_found(Aspect aspect) { found_.push_back(std::move(aspect)); }
  std::vector<Aspect> take() {
    std::ranges::stable_sort(
        found_, [](const Aspect& a, const Aspect& b) { return a.blocking && !b.blocking; });
    return std::move(found_);
  }

 private:
  const Sides& sides_;
  std::vector<Aspect> found_;
};

void add_model(const Sides& sides, Aspects& aspects) {
  const auto text = [](const Profile& profile) -> Text {
    if (!profile.model) return std::nullopt;
    return fmt::format("{} ({} parameters, {} layers)",
                       profile.model->name.value_or(profile.model->variant.value_or("a model")),
                       profile.model->params, profile.model->layers);
  };
  const auto& base = sides.base.front().profile.model;
  const auto& now = sides.now.front().profile.model;
  bool blocking = false;
  if (base && now && base->params > 0) {
    const auto params = static_cast<double>(base->params);
    blocking = base->variant != now->variant ||
               std::abs(static_cast<double>(now->params) - params) > kSameModel * params;
  }
  aspects.add(AspectKind::model, blocking, text);
  aspects.add(AspectKind::dtype, false, [](const Profile& profile) -> Text {
    if (!profile.model) return std::nullopt;
    return fmt::format("activations {}, weights {}, KV cache {}", profile.model->dtype,
                       profile.model->weights_dtype, profile.model->kv_cache_dtype);
  });
}

// Repeated measurements on one machine differ by less.
void add_cpu_peaks(const Sides& sides, Aspects& aspects) {
  const auto& base = sides.base.front().profile.utilization.cpu;
  const auto& now = sides.now.front().profile.utilization.cpu;
  if (!base || !now || !base->flops || !now->flops) return;
  const auto differ = [](double a, double b) {
    constexpr double kSamePeak = 0.05;
    return std::abs(a - b) > kSamePeak * std::max(a, b);
  };
  if (differ(base->flops->value, now->flops->value) ||
      differ(base->memory_bandwidth.value, now->memory_bandwidth.value)) {
    aspects.add(AspectKind::cpu_peaks, false, cpu_peaks);
  }
}

void add_machine(const Sides& sides, Aspects& aspects) {
  aspects.add(AspectKind::device_kind, true, [](const Profile& p) -> Text {
    return std::string(to_string(p.context.device_kind));
  });
  aspects.add(AspectKind::gpu, true, gpu_names);
  aspects.add(AspectKind::gpu_count, true,
              [](const Profile& p) -> Text { return std::to_string(p.totals.gpu_count); });
  aspects.add(AspectKind::ranks, true, [](const Profile& p) -> Text {
    if (!p.job) return "not a job of several ranks";
    return fmt::format("{} of {} recorded", p.job->recorded, p.job->world_size);
  });
  aspects.add(AspectKind::driver, false,
              [](const Profile& p) { return of_captures(p, &profile::Capture::driver); });
  aspects.add(AspectKind::cuda, false,
              [](const Profile& p) { return of_captures(p, &profile::Capture::cuda); });
  const auto base = mean_clock(sides.base);
  const auto now = mean_clock(sides.now);
  if (base && now && std::abs(*now - *base) > kSameClock * *base) {
    aspects.push(AspectKind::clocks, false, fmt::format("{:.0f} MHz", *base / kMega),
                 fmt::format("{:.0f} MHz", *now / kMega));
  }
  add_cpu_peaks(sides, aspects);
  aspects.push(AspectKind::shared_cpus, false, shared_cpus(sides.base), shared_cpus(sides.now));
  aspects.push(AspectKind::throttling, false, throttled(sides.base), throttled(sides.now));
}

void add_memory(Aspects& aspects) {
  const auto known = [](bool is_known) { return std::string(is_known ? "yes" : "no"); };
  aspects.add(AspectKind::gpu_memory, false, memory_of_gpus);
  aspects.add(AspectKind::memory_ledger, false,
              [&](const Profile& p) -> Text { return known(p.memory_ledger.has_value()); });
  aspects.add(AspectKind::memory_snapshot, false,
              [&](const Profile& p) -> Text { return known(p.memory.has_value()); });
}

void add_work(Aspects& aspects) {
  aspects.add(AspectKind::prompt_tokens, true,
              [](const Profile& p) { return number(p.workload.prompt_tokens); });
  aspects.add(AspectKind::new_tokens, false,
              [](const Profile& p) { return number(p.workload.new_tokens); });
  aspects.add(AspectKind::batch, true, [](const Profile& p) { return number(p.workload.batch); });
  aspects.add(AspectKind::parallelism, true, [](const Profile& p) -> Text {
    return fmt::format("tp {}, pp {}, ep {}", p.workload.tp, p.workload.pp, p.workload.ep);
  });
  aspects.add(AspectKind::selection, true, [](const Profile& p) -> Text {
    return p.selection ? p.selection->words : "all of it";
  });
  aspects.add(AspectKind::engine, false, [](const Profile& p) -> Text { return p.engine.name; });
}

void add_recording(const Sides& sides, Aspects& aspects) {
  const std::vector<std::string> stages = common_stages(sides);
  const bool untraced =
      !stages.empty() && std::ranges::all_of(stages, [&](const std::string& stage) {
        return untraced_on_both(sides, stage);
      });
  aspects.add(AspectKind::kernel_source, true,
              [](const Profile& p) -> Text { return std::string(to_string(p.totals.source)); });
  // Each recording method adds a different overhead; only times without profiling are free of it.
  aspects.add(AspectKind::recording, !untraced, recording);
  aspects.add(AspectKind::recording_version, false, recording_versions);
  aspects.add(AspectKind::hidden_graphs, !untraced, graphs);
  aspects.add(AspectKind::stage_source, false, stage_sources);
  aspects.add(AspectKind::stages, stages.empty(), stage_names);
  aspects.add(AspectKind::coverage, false, [](const Profile& p) -> Text {
    if (!p.coverage) return std::nullopt;
    return p.coverage->representative ? "stages hold most of the kernel time"
                                      : "stages hold less than 90 % of the kernel time";
  });
  const auto knows = [](const Profile& p) -> Text {
    const bool any = std::ranges::any_of(
        p.stages, [](const profile::Stage& stage) { return stage.untraced.has_value(); });
    return any ? "known" : "not known";
  };
  aspects.add(AspectKind::untraced, false, knows);
}

}  // namespace

std::vector<std::string> common_stages(const Sides& sides) {
  std::vector<std::string> names;
  const auto in_all = [](std::span<const Run> runs, const std::string& name) {
    return std::ranges::all_of(
        runs, [&](const Run& run) { return find_measured(run.profile.stages, name) != nullptr; });
  };
  for (const profile::Stage& stage : sides.base.front().profile.stages) {
    if (in_all(sides.base, stage.name) && in_all(sides.now, stage.name)) {
      names.push_back(stage.name);
    }
  }
  return names;
}

bool untraced_on_both(const Sides& sides, const std::string& stage) {
  std::set<profile::UntracedSource> sources;
  for (const std::span<const Run> runs : {sides.base, sides.now}) {
    for (const Run& run : runs) {
      const profile::Stage* found = find_measured(run.profile.stages, stage);
      if (found == nullptr || !found->untraced) return false;
      sources.insert(found->untraced->source);
    }
  }
  return sources.size() == 1;
}

std::vector<Aspect> find_aspects(const Sides& sides) {
  Aspects aspects(sides);
  add_machine(sides, aspects);
  add_model(sides, aspects);
  add_work(aspects);
  add_recording(sides, aspects);
  add_memory(aspects);
  for (Aspect& aspect : find_load_aspects(sides)) aspects.add_found(std::move(aspect));
  return aspects.take();
}

}  // namespace llmprof::compare
