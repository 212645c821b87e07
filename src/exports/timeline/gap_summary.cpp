#include <algorithm>
#include <map>

#include "analysis/budget/gpu_timeline.h"
#include "exports/timeline/parts.h"

namespace llmprof::exports {
namespace {

using analysis::GpuWorkRow;

uint8_t cause_before(const analysis::IdleBefore& idle, const GpuWorkRow& work) {
  const auto at = [&](const std::vector<uint8_t>& causes) {
    return work.row < causes.size() ? causes[work.row] : analysis::IdleBefore::kNotIdle;
  };
  switch (work.kind) {
    case analysis::GpuWorkKind::kernel:
      return at(idle.kernel);
    case analysis::GpuWorkKind::memory_operation:
      return at(idle.memory_operation);
    case analysis::GpuWorkKind::graph_replay:
      break;
  }
  return at(idle.graph_replay);
}

}  // namespace

void add_gap_summary(const PlacedSource& source, Draft& draft) {
  const trace::Trace& trace = source.trace;
  const analysis::Stages& stages = source.results.stages;
  if (stages.instances.empty()) return;
  std::vector<Nanoseconds> busy_until(trace.devices.size(), INT64_MIN);
  analysis::each_gpu_work(trace, stages.owners, [&](const GpuWorkRow& work) {
    const trace::DeviceId device = trace.queues[work.queue].device;
    if (!device.valid()) return;
    Nanoseconds& until = busy_until[device.index()];
    const Nanoseconds from = until;
    until = std::max(until, work.end);
    const uint8_t cause = cause_before(source.results.idle_before, work);
    if (cause == analysis::IdleBefore::kNotIdle || !work.instance.valid()) return;
    const analysis::StageInstance& instance = stages.instances[work.instance.index()];
    // What lies before the instance is not its own.
    if (instance.warmup || from < instance.start) return;
    GapsOfCause& sum = draft.gaps[{stages.stages[instance.stage].name, cause}];
    const uint64_t length = draft.length(from, work.start);
    ++sum.count;
    sum.total += length;
    if (length <= sum.longest) return;
    sum.longest = length;
    sum.longest_start = draft.at(from);
  });
}

}  // namespace llmprof::exports
