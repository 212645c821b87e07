#include "analysis/stages/traced_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace llmprof::analysis {
namespace {

// Nothing else lies between the instance and a time that was not traced.
std::vector<bool> at_edges(const Stages& stages) {
  const std::vector<StageInstance>& all = stages.instances;
  std::vector<bool> found(all.size(), false);
  std::map<std::pair<trace::ProcessId, trace::DeviceId>, std::vector<size_t>> by_gpu;
  for (size_t i = 0; i < all.size(); ++i) by_gpu[{all[i].process, all[i].device}].push_back(i);
  for (const auto& [gpu, rows] : by_gpu) {
    for (const UntracedGpuTime::Window& window : stages.untraced.of(gpu.first, gpu.second)) {
      const auto behind = std::partition_point(
          rows.begin(), rows.end(), [&](size_t row) { return all[row].start < window.end; });
      if (behind != rows.begin()) found[*std::prev(behind)] = true;
      if (behind != rows.end()) found[*behind] = true;
    }
  }
  return found;
}

}  // namespace

void find_traced_parts(Stages& stages) {
  if (stages.serving || !stages.untraced.any()) return;
  std::vector<uint32_t> most(stages.stages.size(), 0);
  for (const StageInstance& instance : stages.instances) {
    most[instance.stage] = std::max(most[instance.stage], instance.step_count);
  }
  const std::vector<bool> edge = at_edges(stages);
  for (size_t i = 0; i < edge.size(); ++i) {
    StageInstance& instance = stages.instances[i];
    const bool detected = stages.stages[instance.stage].source == StageSource::detected;
    instance.traced_in_part = edge[i] && detected && instance.step_count < most[instance.stage];
  }
}

void exclude_traced_parts(Stages& stages, Diagnostics& diagnostics) {
  std::vector<bool> has_whole(stages.stages.size(), false);
  for (const StageInstance& instance : stages.instances) {
    if (!instance.traced_in_part && !instance.warmup) has_whole[instance.stage] = true;
  }
  std::vector<uint64_t> excluded(stages.stages.size(), 0);
  for (StageInstance& instance : stages.instances) {
    if (!instance.traced_in_part || instance.warmup || !has_whole[instance.stage]) continue;
    instance.warmup = true;
    instance.why_warmup = WarmupReason::cut_off;
    ++excluded[instance.stage];
  }
  for (size_t stage = 0; stage < excluded.size(); ++stage) {
    if (excluded[stage] == 0) continue;
    diagnostics.info("stage_traced_in_part",
                     stages.serving
                         ? fmt::format("recording began within the first step of {}; it is "
                                       "excluded from the statistics",
                                       stages.stages[stage].name)
                         : fmt::format("windows of tracing hold only a part of some instances of "
                                       "{}, fewer steps than of another; they are excluded from "
                                       "the statistics",
                                       stages.stages[stage].name),
                     excluded[stage]);
  }
}

}  // namespace llmprof::analysis
