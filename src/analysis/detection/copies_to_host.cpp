#include "analysis/detection/copies_to_host.h"

namespace llmprof::analysis {

std::vector<CopyToHost> copies_to_host(const KernelSequence& sequence) {
  const trace::Trace& trace = sequence.trace();
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  std::vector<CopyToHost> found;
  for (size_t i = 0; i < memory.size(); ++i) {
    const trace::Queue& queue = trace.queues[memory.queue[i]];
    if (queue.process != sequence.process() || queue.device != sequence.device()) continue;
    if (trace.strings[memory.detail[i]] != "Device-to-Host") continue;
    found.push_back({memory.start[i], memory.end[i], memory.bytes[i]});
  }
  return found;
}

}  // namespace llmprof::analysis
