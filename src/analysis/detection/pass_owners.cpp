#include "analysis/detection/pass_owners.h"

#include "analysis/stages/thresholds.h"

namespace llmprof::analysis {
namespace {

void own_kernels(const KernelSequence& sequence, std::span<const OwnedPass> passes,
                 WorkOwners& owners) {
  for (const OwnedPass& pass : passes) {
    for (uint32_t at = pass.begin; at < pass.end; ++at) {
      const auto [row, replay] = sequence.item(at);
      (replay ? owners.replay_instance : owners.kernel_instance)[row] = pass.instance;
      (replay ? owners.replay_step : owners.kernel_step)[row] = pass.step;
    }
  }
}

}  // namespace

void own_work(const KernelSequence& sequence, std::span<const OwnedPass> passes,
              WorkOwners& owners) {
  own_kernels(sequence, passes, owners);
  const trace::Trace& trace = sequence.trace();
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  size_t at = 0;    // first position that starts after the operation
  size_t next = 0;  // first pass that does not end before `at`
  for (size_t i = 0; i < memory.size(); ++i) {
    if (!sequence.owns(memory.queue[i])) continue;
    while (at < sequence.size() && sequence.start(at) <= memory.start[i]) ++at;
    while (next < passes.size() && passes[next].end < at) ++next;
    // The passes that hold the positions around the operation.
    const OwnedPass* before = nullptr;
    const OwnedPass* behind = nullptr;
    for (size_t pass = next; pass < passes.size() && pass <= next + 1; ++pass) {
      if (at > passes[pass].begin && at <= passes[pass].end) before = &passes[pass];
      if (at >= passes[pass].begin && at < passes[pass].end) behind = &passes[pass];
    }
    const OwnedPass* owner = behind;
    // A copy long before a pass, or after it, is not part of it: servers move caches between
    // requests.
    if (before != behind && copies_to_host(trace, i)) {
      const bool near =
          before != nullptr && memory.start[i] - sequence.end(at - 1) < threshold::kNear;
      owner = near ? before : nullptr;
    } else if (before != behind && behind != nullptr &&
               sequence.start(at) - memory.start[i] >= threshold::kNear) {
      owner = nullptr;
    }
    if (owner == nullptr) continue;
    owners.memory_instance[i] = owner->instance;
    owners.memory_step[i] = owner->step;
  }
}

}  // namespace llmprof::analysis
