#include "analysis/detection/pass_owners.h"

namespace llmprof::analysis {
namespace {

// A copy longer before a pass, or after it, is not part of it: servers move caches between
// requests.
constexpr Nanoseconds kNear = 2'000'000;

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

void resize_owners(const trace::Trace& trace, WorkOwners& owners) {
  owners.kernel_instance.resize(trace.kernels.size());
  owners.kernel_step.resize(trace.kernels.size());
  owners.memory_instance.resize(trace.memory_operations.size());
  owners.memory_step.resize(trace.memory_operations.size());
  owners.replay_instance.resize(trace.graph_replays.size());
  owners.replay_step.resize(trace.graph_replays.size());
}

void own_work(const KernelSequence& sequence, std::span<const OwnedPass> passes,
              WorkOwners& owners) {
  own_kernels(sequence, passes, owners);
  const trace::Trace& trace = sequence.trace();
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  size_t at = 0;    // first position that starts after the operation
  size_t next = 0;  // first pass that does not end before `at`
  for (size_t i = 0; i < memory.size(); ++i) {
    const trace::Queue& queue = trace.queues[memory.queue[i]];
    if (queue.process != sequence.process() || queue.device != sequence.device()) continue;
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
    if (before != behind) {
      const bool read_back = trace.strings[memory.detail[i]] == "Device-to-Host";
      if (read_back) {
        owner =
            before != nullptr && memory.start[i] - sequence.end(at - 1) < kNear ? before : nullptr;
      } else if (behind != nullptr && sequence.start(at) - memory.start[i] >= kNear) {
        owner = nullptr;
      }
    }
    if (owner == nullptr) continue;
    owners.memory_instance[i] = owner->instance;
    owners.memory_step[i] = owner->step;
  }
}

}  // namespace llmprof::analysis
