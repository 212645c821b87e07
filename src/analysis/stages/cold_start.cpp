#include "analysis/stages/cold_start.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/tracing/tracing_periods.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

using Period = TracingPeriods::Period;

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

}  // namespace

void flag_only_first(const trace::Trace& trace, Stages& stages, Diagnostics& diagnostics) {
  if (stages.serving) return;
  const TracingPeriods periods(trace);
  if (!periods.any_untraced()) return;
  for (uint32_t stage = 0; stage < stages.stages.size(); ++stage) {
    const StageInstance* only = nullptr;
    size_t count = 0;
    for (const StageInstance& instance : stages.instances) {
      if (instance.stage != stage) continue;
      only = &instance;
      ++count;
    }
    // A decode that windows see in pieces has cold steps and warm ones.
    if (count != 1 || only->all_steps() > 1 || !first_of_more(trace, periods, *only)) continue;
    stages.stages[stage].only_the_first = true;
    diagnostics.warn(
        "only_first_recorded",
        fmt::format("the only {} that was recorded is the program's first, and the program ran on "
                    "while nothing was traced: its {:.3f} ms are those of a cold start; record "
                    "without --overhead-budget, or let the program warm up before recording starts",
                    stages.stages[stage].name,
                    static_cast<double>(only->wall()) / kNanosecondsPerMillisecond));
  }
}

}  // namespace llmprof::analysis
