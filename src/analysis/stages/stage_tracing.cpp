#include "analysis/stages/stage_tracing.h"

#include <fmt/format.h>

namespace llmprof::analysis {
namespace {

// Arming takes some of a stage's first microseconds, but all its work is recorded.
constexpr double kMeansNothing = 0.05;  // share of the wall time

}  // namespace

StageTracing stage_tracing(const Stages& stages, uint32_t stage) {
  StageTracing result;
  Nanoseconds wall = 0;
  for (const StageInstance& instance : stages.instances) {
    if (instance.stage != stage || instance.warmup) continue;
    wall += instance.wall();
    result.steps_traced += instance.step_count;
    result.steps_all += instance.all_steps();
    for (const auto& unseen :
         stages.untraced.within(instance.process, instance.device, instance.start, instance.end)) {
      result.untraced += unseen.end - unseen.start;
    }
  }
  if (result.steps_all > 0) {
    result.share = static_cast<double>(result.steps_traced) / static_cast<double>(result.steps_all);
  } else if (static_cast<double>(result.untraced) > kMeansNothing * static_cast<double>(wall)) {
    result.share.reset();
  }
  return result;
}

void report_untraced(const Stages& stages, Diagnostics& diagnostics) {
  for (uint32_t i = 0; i < stages.stages.size(); ++i) {
    const StageTracing tracing = stage_tracing(stages, i);
    if (tracing.whole()) continue;
    const std::string& name = stages.stages[i].name;
    if (!tracing.share) {
      diagnostics.warn(
          "stage_not_traced",
          fmt::format("the collector was not tracing during a part of {}: its kernel and "
                      "busy times are too small, and its budget has a part 'not "
                      "traced'",
                      name));
      continue;
    }
    diagnostics.info(
        "steps_not_traced",
        fmt::format("steps of {} were not traced ({} of {} were): kernel times, counts, layers and "
                    "busy times are of the traced steps alone; wall times and tokens are of all",
                    name, tracing.steps_traced, tracing.steps_all),
        tracing.steps_all - tracing.steps_traced);
  }
}

}  // namespace llmprof::analysis
