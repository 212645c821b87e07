#include "analysis/stage_streams/stage_streams.h"

#include <map>
#include <tuple>

#include "analysis/ranking/kernels.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {

std::vector<profile::StageStream> find_stage_streams(const trace::Trace& trace,
                                                     const Stages& stages) {
  struct Sum {
    uint64_t kernels = 0;
    Nanoseconds time = 0;
  };
  std::map<std::tuple<uint32_t, trace::DeviceId, uint64_t>, Sum> sums;
  const trace::KernelTable& kernels = trace.kernels;
  for (size_t row = 0; row < kernels.size(); ++row) {
    const InstanceId owner = stages.owners.kernel_instance[row];
    if (!owner.valid() || stages.instances[owner.index()].warmup) continue;
    const trace::Queue& queue = trace.queues[kernels.queue[row]];
    Sum& sum = sums[{stages.instances[owner.index()].stage, queue.device, queue.stream}];
    ++sum.kernels;
    sum.time += kernels.end[row] - kernels.start[row];
  }
  std::vector<profile::StageStream> rows;
  for (const auto& [place, sum] : sums) {
    const auto& [stage, device, stream] = place;
    rows.push_back({to_printable(stages.stages[stage].name), device_label(trace, device), stream,
                    sum.kernels, to_milliseconds(sum.time)});
  }
  return rows;
}

}  // namespace llmprof::analysis
