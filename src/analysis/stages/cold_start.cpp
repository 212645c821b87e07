#include "analysis/stages/cold_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/tracing/tracing_periods.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

using Period = TracingPeriods::Period;

constexpr size_t kFewFirst = 2;

double milliseconds(Nanoseconds time) {
  return static_cast<double>(time) / kNanosecondsPerMillisecond;
}

// Whether the program launched work in it, by the light watch; where there is none, the collector
// was attached again at its end, and so the program ran on.
bool worked_in(const trace::Trace& trace, trace::ProcessId process, const Period& period) {
  const trace::HostCallTable& calls = trace.host_calls;
  bool watched = false;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (trace.threads[calls.thread[i].index()].process != process) continue;
    watched = true;
    const bool launch = calls.kind[i] != trace::HostCallTable::Kind::wait;
    if (launch && calls.start[i] >= period.start && calls.start[i] < period.end) return true;
  }
  return !watched && period.end != INT64_MAX;
}

// Nothing ran unseen before it, and something after it.
bool first_of_more(const trace::Trace& trace, const TracingPeriods& periods,
                   const StageInstance& instance) {
  bool later = false;
  for (const Period& period : periods.untraced(instance.process)) {
    const bool before = period.start < instance.start;
    if (!before && later) continue;
    if (!worked_in(trace, instance.process, period)) continue;
    if (before) return false;
    later = true;
  }
  return later;
}

std::string what_is_cold(const std::string& name, const std::vector<const StageInstance*>& all) {
  if (all.size() == 1) {
    return fmt::format(
        "the only {} that was recorded is the program's first, its {:.3f} ms are those of a cold "
        "start",
        name, milliseconds(all.front()->wall()));
  }
  return fmt::format(
      "all {} instances of {} that were recorded are the program's first, their {:.3f} and {:.3f} "
      "ms may be those of a cold start",
      all.size(), name, milliseconds(all.front()->wall()), milliseconds(all.back()->wall()));
}

}  // namespace

void flag_only_first(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics) {
  if (stages.serving) return;
  const TracingPeriods periods(trace);
  if (!periods.any_untraced()) return;
  for (uint32_t stage = 0; stage < stages.stages.size(); ++stage) {
    std::vector<const StageInstance*> all;
    for (const StageInstance& instance : stages.instances) {
      if (instance.stage == stage) all.push_back(&instance);
    }
    // Of more than these, or behind a warm-up, the later ones show what is usual.
    if (all.empty() || all.size() > kFewFirst) continue;
    const bool cold = std::all_of(all.begin(), all.end(), [&](const StageInstance* instance) {
      // A decode that windows see in pieces has cold steps and warm ones.
      return !instance->warmup && instance->all_steps() <= 1 &&
             first_of_more(trace, periods, *instance);
    });
    if (!cold) continue;
    stages.stages[stage].only_the_first = true;
    diagnostics.warn(
        "only_first_recorded",
        fmt::format("{}, and the program ran on while nothing was traced; record without "
                    "--overhead-budget, or let the program warm up before recording starts",
                    what_is_cold(stages.stages[stage].name, all)));
  }
}

}  // namespace llmprof::analysis
