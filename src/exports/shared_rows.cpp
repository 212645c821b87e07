#include "exports/shared_rows.h"

#include <algorithm>

namespace llmprof::exports {
namespace {

// Kernels of a layer are consecutive, except for a few that overlap the next layer.
void add_kernel(const LayerSpan& kernel, std::vector<LayerSpan>& spans) {
  constexpr size_t kLookBack = 4;
  for (size_t i = 0; i < std::min(kLookBack, spans.size()); ++i) {
    LayerSpan& span = spans[spans.size() - 1 - i];
    if (span.pass != kernel.pass || span.layer != kernel.layer) continue;
    span.end = std::max(span.end, kernel.end);
    return;
  }
  spans.push_back(kernel);
}

}  // namespace

std::map<trace::DeviceId, std::vector<LayerSpan>> layer_spans(const ExportSource& source) {
  const trace::KernelTable& kernels = source.trace.kernels;
  const analysis::WorkOwners& owners = source.results.stages.owners;
  const auto& layer_of = source.results.layers.of_kernel;
  std::map<trace::DeviceId, std::vector<LayerSpan>> devices;
  std::vector<std::vector<LayerSpan>*> of_queue(source.trace.queues.size(), nullptr);
  for (size_t row = 0; row < layer_of.size(); ++row) {
    if (!layer_of[row].valid()) continue;
    constexpr uint64_t kInstances = 1ULL << 32U;
    const uint64_t pass = owners.kernel_step[row].valid()
                              ? owners.kernel_step[row].index()
                              : kInstances | owners.kernel_instance[row].value;
    std::vector<LayerSpan>*& spans = of_queue[kernels.queue[row].index()];
    if (spans == nullptr) spans = &devices[source.trace.queues[kernels.queue[row]].device];
    add_kernel({pass, layer_of[row], kernels.start[row], kernels.end[row]}, *spans);
  }
  return devices;
}

}  // namespace llmprof::exports
